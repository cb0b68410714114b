// Makes some pages more comfortable. Each of them works without it.

// The server renders times in the zone of the cookie tz. Where the browser is in
// another, the cookie follows it, and what was rendered before that is shown anew.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const elsewhere = zone && zone !== document.documentElement.dataset.tz;
const day = 86_400_000;

function partsOf(at) {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone, weekday: "short", year: "numeric", month: "short", day: "numeric",
    hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23", timeZoneName: "shortOffset",
  });
  const p = Object.fromEntries(format.formatToParts(at).map((part) => [part.type, part.value]));
  return { ...p, date: `${p.day} ${p.month}`, clock: `${p.hour}:${p.minute}:${p.second}`, offset: p.timeZoneName.replace("GMT", "UTC") };
}

function exact(p, now) {
  if (p.year !== now.year) return `${p.date} ${p.year} ${p.clock}`;
  return p.date === now.date ? p.clock : `${p.date} ${p.clock}`;
}

// within is a time in a sentence, in the words of the server.
function within(p, now) {
  if (p.date === now.date && p.year === now.year) return `at ${p.hour}:${p.minute}`;
  return `on ${p.date}${p.year === now.year ? "" : ` ${p.year}`} at ${p.hour}:${p.minute}`;
}

// ago is how long ago a time was, in the words of the server.
function ago(at) {
  const ms = Date.now() - at;
  const past = Math.abs(ms);
  const units = [[day, "d"], [3_600_000, "h"], [60_000, "min"], [1000, "s"]];
  const [unit, name] = units.find(([u]) => past >= u) ?? [1, ""];
  if (!name) return "now";
  return `${ms < 0 ? "in " : ""}${Math.floor(past / unit)} ${name}`;
}

function showTimes(root) {
  if (!elsewhere) return;
  const now = partsOf(new Date());
  for (const el of root.querySelectorAll("time[data-as]")) {
    const at = new Date(el.dateTime);
    const p = partsOf(at);
    el.title = `${p.weekday} ${p.date} ${p.year}, ${p.clock} ${p.offset}`;
    if (el.dataset.as === "when") el.textContent = exact(p, now);
    if (el.dataset.as === "minute") el.textContent = exact(p, now).slice(0, -3);
    if (el.dataset.as === "at") el.textContent = within(p, now);
    if (el.dataset.as === "date") el.textContent = `${p.date} ${p.year}`;
  }
  for (const el of root.querySelectorAll("[data-zone]")) el.textContent = `Times in ${zone} (${now.offset})`;
}

// In a frame of another site a cookie is kept for frames of that site alone.
const framed = self !== top;

function keep(name, value) {
  const limits = framed ? "SameSite=None; Partitioned" : "SameSite=Lax";
  document.cookie = `${name}=${value}; Path=/settings; Max-Age=31536000; ${limits}${location.protocol === "https:" ? "; Secure" : ""}`;
}

// What was a minute ago is older while the page stays open; not on a server for tests,
// whose clock stands still.
function growOld() {
  for (const el of document.querySelectorAll('time[data-as="ago"]')) {
    const at = new Date(el.dateTime);
    if (Math.abs(Date.now() - at) < 90 * day) el.textContent = ago(at);
  }
}

// A value with data-copy gets a button that copies it.
function addCopyButtons(root) {
  for (const el of root.querySelectorAll("[data-copy]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.ariaLive = "polite"; // what became of it is said
    button.addEventListener("click", () => copy(el, button));
    const head = el.closest(".sample, .code")?.querySelector(".code-head");
    if (head) (head.querySelector(".who") ?? head).append(button);
    else el.after(button);
  }
}

// A button with data-copies opens what can be copied, and copies it at once.
document.addEventListener("click", (event) => {
  const opens = event.target.closest("[data-copies]")?.popoverTargetElement;
  opens?.querySelector(".copy").click();
});

async function copy(el, button) {
  try {
    await navigator.clipboard.writeText(el.dataset.copy || el.textContent.trim());
    say(button, "Copied");
  } catch {
    getSelection().selectAllChildren(el);
    say(button, "Selected");
  }
}

// say shows a word on a button for two seconds.
function say(button, word) {
  button.textContent = word;
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
}

// A part with data-live is asked for again until it holds data-done, while the page is
// visible: often at first, less often later.
const slowest = 5_000;

async function live(el, began = Date.now()) {
  const waited = Date.now() - began;
  if (el.querySelector("[data-done]")) return;
  await new Promise((after) => setTimeout(after, Math.min(300 + waited / 10, slowest)));
  if (document.hidden) {
    await new Promise((seen) => document.addEventListener("visibilitychange", seen, { once: true }));
    began = Date.now();
  }
  if (!el.isConnected) return;
  await refresh(el);
  live(el, began);
}

// Nothing is exchanged below a pointer that is pressed: the click would be lost. Nor while
// the page is hidden, by an answer that was on its way: it is asked for again once seen.
let pressed = false;
addEventListener("pointerdown", () => { pressed = true; });
for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => setTimeout(() => { pressed = false; }));

// refresh leaves what is there when the server can't be reached, and what did not
// change: a reader's place in it stays. An answer in parts, each with a data-part,
// changes those of the page; any other is what the element holds.
async function refresh(el) {
  const got = await fetch(el.dataset.live, { headers: framed ? { "Teamdata-Framed": "yes" } : {} }).catch(() => null);
  if (!got?.ok || got.redirected) return;
  const parsed = document.createElement("template");
  parsed.innerHTML = await got.text();
  if (pressed || document.hidden) return;
  const parts = parsed.content.querySelectorAll("[data-part]");
  if (parts.length === 0) fill(el, parsed.innerHTML);
  else for (const symbol of parsed.content.querySelectorAll("symbol")) if (!document.getElementById(symbol.id)) document.querySelector(".sprite")?.append(symbol);
  for (const part of parts) {
    const shown = document.querySelector(`[data-part="${part.dataset.part}"]`);
    if (shown) fill(shown, part.innerHTML);
  }
}

// fill keeps open what is open, chosen what is chosen, and the focus where it was.
// The nonces of forms, which differ each time, make no difference.
function fill(el, html) {
  const body = html.replace(/ name="nonce" value="[^"]*"/g, "");
  if (body === el.lastBody) return;
  el.lastBody = body;
  const own = "a, button, summary, select";
  const place = [...el.querySelectorAll(own)].indexOf(document.activeElement);
  const open = [...el.querySelectorAll("details")].reverse().map((fold) => fold.open); // they come and go at the start
  const chosen = [...el.querySelectorAll("select")].map((select) => select.value);
  el.innerHTML = html;
  el.querySelectorAll("select").forEach((select, i) => { select.value = chosen[i] ?? select.value; });
  [...el.querySelectorAll("details")].reverse().forEach((fold, i) => { fold.open ||= open[i]; });
  for (const symbol of el.querySelectorAll("symbol")) if (document.getElementById(symbol.id) !== symbol) symbol.remove();
  enhance(el);
  if (place >= 0) el.querySelectorAll(own)[place]?.focus({ preventScroll: true });
}

// A link to a page that asks for confirmation opens a dialog with its words.
const asks = ["disable", "delete", "remove", "revoke", "clear"].map((end) => `a[href$="/${end}"]`).join();

async function openDialog(link) {
  const got = await fetch(link.href, { headers: framed ? { "Teamdata-Framed": "yes" } : {} }).catch(() => null);
  const page = document.createElement("template");
  page.innerHTML = got?.ok ? await got.text() : "";
  const words = page.content.querySelector("[data-confirm]");
  if (!words) return location.assign(link.href);
  const dialog = document.createElement("dialog");
  dialog.className = "dialog";
  dialog.setAttribute("aria-labelledby", "confirm");
  dialog.append(...words.childNodes);
  dialog.querySelector(".ends > a").addEventListener("click", (event) => { event.preventDefault(); dialog.close(); });
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  enhance(dialog);
  dialog.showModal();
}

addEventListener("click", (event) => {
  const link = event.target.closest(asks);
  if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  openDialog(link);
});

// A form is sent once: a second click waits for the first one's answer, for ten
// seconds at most. A page that comes back from the browser's memory may send again.
const patience = 10_000;

function sendOnce() {
  document.addEventListener("submit", (event) => {
    if (event.defaultPrevented || event.target.method !== "post") return;
    if (event.target.dataset.sent) event.preventDefault();
    mark(event.target, true);
    setTimeout(() => mark(event.target, false), patience);
  });
  addEventListener("pageshow", () => document.querySelectorAll("form[data-sent]").forEach((form) => mark(form, false)));
}

// mark leaves the buttons enabled, so that the one that was pressed is sent along.
function mark(form, sent) {
  if (sent) form.dataset.sent = "yes";
  else delete form.dataset.sent;
  for (const button of form.querySelectorAll("button")) button.setAttribute("aria-disabled", String(sent));
}

// A name with data-follows is the part before the @ of an address, until it is touched.
function followAddress(name) {
  const address = document.getElementById(name.dataset.follows);
  let own = name.value !== "";
  name.addEventListener("input", () => { own = name.value !== ""; });
  address.addEventListener("input", () => {
    if (!own) name.value = address.value.split("@")[0].replace(/[^A-Za-z0-9._-]/g, "").slice(0, 64);
  });
}

// A button with data-call makes a call of the API with the key that the page shows, and says
// below it what is answered.
function offerCall(button) {
  const answer = document.getElementById(button.getAttribute("aria-controls"));
  button.addEventListener("click", async () => {
    const key = document.querySelector(".secret code").textContent.trim();
    try {
      const got = await fetch(button.dataset.call, { method: button.dataset.method, headers: { Authorization: `Bearer ${key}` } });
      answer.textContent = `Status ${got.status}\n\n${await got.text()}`;
    } catch {
      answer.textContent = "The server could not be reached.";
    }
    answer.parentElement.hidden = false;
  });
  button.hidden = false;
}

function enhance(root) {
  showTimes(root);
  addCopyButtons(root);
}

// A list whose rows can be ticked gets a box that ticks all of them.
function addTickAll(list) {
  const boxes = [...list.querySelectorAll('input[name="id"]')];
  const all = document.createElement("input");
  all.type = "checkbox";
  all.className = "all";
  all.ariaLabel = "Tick all on this page";
  const show = () => {
    const ticked = boxes.filter((box) => box.checked).length;
    all.checked = ticked === boxes.length;
    all.indeterminate = ticked > 0 && !all.checked;
  };
  all.addEventListener("change", () => boxes.forEach((box) => { box.checked = all.checked; }));
  list.addEventListener("change", show);
  list.addEventListener("reset", () => setTimeout(show));
  list.querySelector("th.pick").append(all);
  show();
}

// Single keys can be turned off, and never act in a field. What they do is on a sheet.
const rowLinks = () => [...document.querySelectorAll("main .rows tbody .first a")].filter((link) => link.getClientRects().length);

function moveRow(by) {
  const links = rowLinks();
  const row = document.activeElement.closest("tr");
  const at = links.findIndex((link) => link.closest("tr") === row);
  links[at < 0 ? 0 : Math.max(at + by, 0)]?.focus();
}

const keys = {
  "?": (sheet) => sheet.showModal(),
  "/": () => document.querySelector('main input[type="search"]')?.focus(),
  j: () => moveRow(1),
  k: () => moveRow(-1),
  x: () => document.activeElement.closest("tr")?.querySelector('input[name="id"]')?.click(),
  X: () => document.querySelector(".pick > .all")?.click(),
};
const patienceForKeys = 1500;

function useKeys(sheet) {
  const on = sheet.querySelector('[name="keys"]');
  on.checked = !document.cookie.split("; ").includes("keys=off");
  on.addEventListener("change", () => keep("keys", on.checked ? "on" : "off"));
  for (const item of document.querySelectorAll(".keyboard")) {
    item.hidden = false;
    item.addEventListener("click", () => sheet.showModal());
  }
  let wentAt = -Infinity; // when g was pressed
  addEventListener("keydown", (event) => {
    const inField = event.target.closest('input:not([type="checkbox"]), textarea, select, [contenteditable]');
    if (!on.checked || inField || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || document.querySelector("dialog[open]")) return;
    const going = event.timeStamp - wentAt < patienceForKeys;
    wentAt = event.key === "g" ? event.timeStamp : -Infinity;
    const page = going && sheet.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    if (page) location.assign(page.href);
    else if (Object.hasOwn(keys, event.key)) {
      event.preventDefault();
      keys[event.key](sheet);
    }
  });
}

if (elsewhere) keep("tz", zone);
enhance(document);
sendOnce();
document.querySelectorAll("form.pickable").forEach(addTickAll);
document.querySelectorAll("dialog#keys").forEach(useKeys);
if (!document.querySelector("[data-test-clock]")) setInterval(growOld, 30_000);
document.querySelectorAll("[data-live]").forEach((el) => live(el));
document.querySelectorAll("[data-follows]").forEach(followAddress);
document.querySelectorAll("[data-call]").forEach(offerCall);

// Signing in by passkeys, and adding them. A form with data-passkey names what its
// ceremony is for. The server asks by JSON, the authenticator answers, and the
// server says where to go on.

const decode = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
const encode = (bytes) => bytes && btoa(String.fromCharCode(...new Uint8Array(bytes))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

// creationOptions and requestOptions do by hand what older browsers lack.
function creationOptions(json) {
  if (PublicKeyCredential.parseCreationOptionsFromJSON) return PublicKeyCredential.parseCreationOptionsFromJSON(json);
  return {
    ...json, challenge: decode(json.challenge), user: { ...json.user, id: decode(json.user.id) },
    excludeCredentials: json.excludeCredentials?.map((c) => ({ ...c, id: decode(c.id) })),
  };
}

function requestOptions(json) {
  if (PublicKeyCredential.parseRequestOptionsFromJSON) return PublicKeyCredential.parseRequestOptionsFromJSON(json);
  return { ...json, challenge: decode(json.challenge), allowCredentials: json.allowCredentials?.map((c) => ({ ...c, id: decode(c.id) })) };
}

// credentialJSON does by hand what older browsers lack. The credential of a password
// manager is none of the browser's, whose toJSON throws then.
function credentialJSON(c) {
  try {
    return c.toJSON();
  } catch {
    const response = { clientDataJSON: encode(c.response.clientDataJSON) };
    for (const name of ["attestationObject", "authenticatorData", "signature", "userHandle"]) {
      if (c.response[name]) response[name] = encode(c.response[name]);
    }
    return { id: c.id, rawId: encode(c.rawId), type: c.type, response, clientExtensionResults: c.getClientExtensionResults() };
  }
}

const authenticators = {
  "sign-in": async (options) => navigator.credentials.get({ publicKey: requestOptions(options.publicKey) }),
  add: async (options) => navigator.credentials.create({ publicKey: creationOptions(options.publicKey) }),
};

// ask posts a form and returns the JSON that is answered; what is wrong is thrown
// as a text for the person.
async function ask(path, form) {
  const got = await fetch(path, { method: "POST", body: new URLSearchParams(form) });
  const answer = await got.json().catch(() => ({}));
  if (!got.ok) throw new Error(answer.message || "The server gave an unexpected answer. Reload the page.");
  return answer;
}

const notAllowed = {
  NotAllowedError: "No passkey was used. Try again when you are ready.",
  InvalidStateError: "This device already has a passkey for your account.",
};

async function ceremony(form) {
  const path = "/settings/passkeys/" + form.dataset.passkey;
  const fields = new FormData(form);
  fields.delete("draft");
  const credential = await authenticators[form.dataset.passkey](await ask(path + "/begin", fields));
  fields.delete("old");
  fields.set("credential", JSON.stringify(credentialJSON(credential)));
  const { location: next } = await ask(path + "/finish", fields);
  if (!form.elements.draft) return location.assign(next);
  form.action = "/settings/sign-in/draft"; // the page carries what was typed before the session ended
  form.submit();
}

function offerPasskeys(form) {
  const problem = form.querySelector(".error");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    problem.hidden = true;
    await ceremony(form).catch((error) => {
      problem.textContent = notAllowed[error.name] || error.message;
      problem.hidden = false;
    });
  });
  form.hidden = false;
}

if (globalThis.PublicKeyCredential) document.querySelectorAll("form[data-passkey]").forEach(offerPasskeys);
