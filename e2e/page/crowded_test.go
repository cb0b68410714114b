package page_test

// findCrowded are texts and boxes with an edge that have less than 4 pixels to a box above or
// below them. What lies on purpose over something else is no matter.
const findCrowded = `() => {
	const over = (el) => el.closest("dialog, [popover], .unseen, .skip, svg") || ["absolute", "fixed", "sticky"].includes(getComputedStyle(el).position);
	const edged = (el) => { const s = getComputedStyle(el); return parseFloat(s.borderTopWidth) > 0 && parseFloat(s.borderBottomWidth) > 0 && s.borderTopColor !== "rgba(0, 0, 0, 0)"; };
	const seen = (el, r, around) => { // what the boxes around it leave of a rectangle
		let [left, top, right, bottom] = [r.left, r.top, r.right, r.bottom];
		for (; around.tagName !== "MAIN"; around = around.parentElement) {
			const clip = getComputedStyle(around).overflow === "visible" ? null : around.getBoundingClientRect();
			if (clip) [left, top, right, bottom] = [Math.max(left, clip.left), Math.max(top, clip.top), Math.min(right, clip.right), Math.min(bottom, clip.bottom)];
		}
		return { el, left, top, right, bottom };
	};
	const all = [...document.querySelectorAll("main *")].filter((el) => el.checkVisibility({ visibilityProperty: true }) && !over(el));
	const boxes = all.filter(edged).map((el) => seen(el, el.getBoundingClientRect(), el.parentElement));
	const things = [...boxes];
	const words = document.createRange();
	for (const el of all) {
		for (const node of el.childNodes) {
			if (node.nodeType !== Node.TEXT_NODE || !node.textContent.trim()) continue;
			words.selectNode(node);
			for (const r of words.getClientRects()) things.push(seen(el, r, el));
		}
	}
	const found = boxes.flatMap((b) => things.flatMap((t) => {
		const apart = b.el.contains(t.el) || t.el.contains(b.el) || t.left >= b.right || b.left >= t.right || t.top >= t.bottom;
		const gap = t.top > b.top ? t.top - b.bottom : b.top - t.bottom;
		return apart || gap >= 4 ? [] : [gap.toFixed(1) + " px: " + b.el.outerHTML.slice(0, 90) + " and " + t.el.outerHTML.slice(0, 90)];
	}));
	return [...new Set(found)].slice(0, 5);
}`

// checkFields: a field that can be written in has the page's colour, and what is wrong with one
// is told in red.
func (b *tab) checkFields() {
	b.open(acme + "/deliveries")
	other, _ := evaluate[[]string](b, `() => [...document.querySelectorAll("main :is(select, input.input)")].filter((el) => getComputedStyle(el).backgroundColor !== getComputedStyle(document.body).backgroundColor).map((el) => el.id)`)
	if len(other) > 0 {
		b.t.Errorf("the fields %v look as if they could not be changed", other)
	}
	b.open(acme + "/new-endpoint")
	b.submit(map[string]any{"url": "https://x.example/"})
	told, _ := evaluate[[]string](b, `() => [".errors strong, .errors p", "#events-error"].map((s) => getComputedStyle(document.querySelector(s)).color)`)
	if len(told) != 2 || told[0] != told[1] {
		b.t.Errorf("the summary and what is wrong with the event types are told in %v", told)
	}
}
