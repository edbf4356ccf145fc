// All pages work without this. It keeps the overview fresh by server-sent events, and lets Ctrl-Enter run a query.

const connection = document.getElementById("connection");

/** Replace a part of the page. Keep the focus, the scroll positions and what the reader has opened. */
function replacePart(name, html) {
  const part = document.querySelector(`[data-part="${CSS.escape(name)}"]`);
  if (part === null) return;
  const focused = part.contains(document.activeElement) ? document.activeElement : null;
  const link = focused?.getAttribute("href") ?? null;
  const open = [...part.querySelectorAll("details[open]")].map((element) => element.id);
  const scrolled = [...part.querySelectorAll(".scroll, .log")].map((element) => [element.scrollLeft, element.scrollTop]);
  part.innerHTML = html; // our own markup, with everything foreign escaped by the server
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  part.querySelectorAll(".scroll, .log").forEach((element, index) => {
    [element.scrollLeft, element.scrollTop] = scrolled[index] ?? [0, 0];
  });
  if (focused === null) return;
  const again = link === null ? part.querySelector(focused.tagName) : part.querySelector(`[href="${CSS.escape(link)}"]`);
  again?.focus({ preventScroll: true });
}

if (connection !== null) {
  const events = new EventSource("/events");
  events.addEventListener("parts", (event) => {
    connection.hidden = true;
    for (const [name, html] of Object.entries(JSON.parse(event.data))) replacePart(name, html);
  });
  events.addEventListener("open", () => {
    connection.hidden = true;
  });
  events.addEventListener("error", () => {
    connection.textContent = "The server does not answer: these are the last figures. Trying again …";
    connection.hidden = false;
    if (events.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 10000);
  });
}

for (const area of document.querySelectorAll("form.query textarea")) {
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) area.form.requestSubmit();
  });
}
