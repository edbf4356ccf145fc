// All pages work without this. It keeps the first page fresh while a crawl runs, and lets Ctrl-Enter run a query.
"use strict";

const live = document.getElementById("live");

async function refresh() {
  try {
    const answer = await fetch("/live");
    if (!answer.ok) return;
    live.innerHTML = await answer.text(); // our own markup, with everything foreign escaped by the server
    if (answer.headers.get("X-Running") !== "true") {
      live.dataset.live = "false";
      location.reload();
    }
  } catch {
    // the server has gone; what is shown stays
  }
}

if (live !== null && live.dataset.live === "true") {
  setInterval(() => {
    if (live.dataset.live === "true" && !document.hidden) refresh();
  }, 1000);
}

for (const area of document.querySelectorAll("form.query textarea")) {
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) area.form.requestSubmit();
  });
}
