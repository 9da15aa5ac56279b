// Keeps the status of a scan current while it runs, and shows the report when it is
// over. Without this file the page loads itself anew every few seconds.
(() => {
  const status = document.getElementById("status");
  const from = status && status.dataset.live;
  if (!from) return;
  const over = ["completed", "failed", "cancelled", "superseded"];
  let wait = 1000;

  const show = (text) => {
    const fresh = new DOMParser().parseFromString(text, "text/html");
    for (const part of status.querySelectorAll("[data-part]")) {
      const other = fresh.querySelector(`[data-part="${part.dataset.part}"]`);
      if (other && other.innerHTML !== part.innerHTML) part.replaceChildren(...other.childNodes);
    }
  };

  const look = async () => {
    try {
      const answer = await fetch(from, {credentials: "same-origin", cache: "no-store"});
      if (answer.status >= 500) throw new Error("the service does not answer");
      if (!answer.ok || over.includes(answer.headers.get("Preadmit-State"))) {
        location.reload();
        return;
      }
      show(await answer.text());
      wait = 1000;
    } catch {
      wait = Math.min(wait * 2, 30000);
    }
    setTimeout(look, wait);
  };
  setTimeout(look, wait);
})();
