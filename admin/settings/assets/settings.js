// Makes some pages more comfortable. Each of them works without it.

// Times are shown in the reader's zone. The title keeps them in UTC.
const zoned = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

function showTimes(root) {
  for (const el of root.querySelectorAll("time[datetime]")) {
    const at = new Date(el.dateTime);
    if (!Number.isNaN(at.getTime())) el.textContent = zoned.format(at);
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
    el.after(button);
  }
}

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

// A part with data-live is asked for again until it holds data-done: often at
// first, less often later, and for a minute at most.
const liveFor = 60_000;

async function live(el, began = Date.now()) {
  const waited = Date.now() - began;
  if (el.querySelector("[data-done]") || waited > liveFor) return;
  await new Promise((after) => setTimeout(after, Math.min(300 + waited / 10, 3000)));
  await refresh(el);
  live(el, began);
}

// refresh leaves what is there when the server can't be reached, and what did not
// change: a reader's place in it stays.
async function refresh(el) {
  const got = await fetch(el.dataset.live).catch(() => null);
  if (!got?.ok || got.redirected) return;
  const body = await got.text();
  if (body === el.lastBody) return;
  el.lastBody = body;
  el.innerHTML = body;
  enhance(el);
}

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

function enhance(root) {
  showTimes(root);
  addCopyButtons(root);
}

enhance(document);
sendOnce();
document.querySelectorAll("[data-live]").forEach((el) => live(el));
