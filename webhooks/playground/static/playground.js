// Answers as one types, and puts all fields into the fragment of a link. Without this file there is
// a button.
(() => {
  const form = document.getElementById("tried");
  const shown = document.getElementById("shown");
  const answer = document.getElementById("result");
  const link = document.getElementById("link");
  const linked = document.getElementById("linked");
  const names = ["policies", "object", "oldObject", "params", "namespace", "rbac", "operation", "version", "subresource", "user", "groups"]
    .filter((name) => form.elements[name]);
  const limit = 512 * 1024; // what the service takes, and a link may unpack to
  let asked = 0, timer = 0, running = null;

  const fields = () => Object.fromEntries(names.map((name) => [name, form.elements[name].value]).filter(([, value]) => value !== ""));

  const fill = (values) => {
    for (const name of names) {
      const value = typeof values[name] === "string" ? values[name] : "";
      const field = form.elements[name];
      field.value = value;
      if (field.options && field.selectedIndex < 0) field.selectedIndex = 0;
      const details = field.closest("details");
      if (details) details.open = value !== "";
    }
  };

  const mark = (problems) => {
    for (const name of names) {
      const wrong = problems.some((p) => p.field === name);
      if (wrong) form.elements[name].setAttribute("aria-invalid", "true");
      else form.elements[name].removeAttribute("aria-invalid");
    }
  };

  const say = (text) => {
    const p = document.createElement("p");
    p.className = "nothing";
    p.textContent = text;
    shown.replaceChildren(p);
  };

  const ask = async () => {
    const mine = ++asked;
    if (running) running.abort();
    const body = JSON.stringify(fields());
    if (new Blob([body]).size > limit) { // the service would not read it to the end
      answer.classList.remove("busy");
      say("All fields together may have 512 KiB.");
      return;
    }
    running = new AbortController();
    answer.classList.add("busy");
    try {
      const response = await fetch("/playground/answer", {
        method: "POST", headers: {"Content-Type": "application/json"}, body,
        credentials: "same-origin", cache: "no-store", signal: running.signal,
      });
      const said = await response.json();
      if (mine !== asked) return;
      // What the service makes with its templates; no text of a field is markup in it.
      shown.innerHTML = said.html;
      mark((said.answer && said.answer.problems) || []);
      answer.dataset.answered = String(mine);
      if (response.status === 429 || response.status === 503) timer = setTimeout(ask, 2000);
    } catch (error) {
      if (mine === asked && error.name !== "AbortError") say("The service does not answer. Press Judge to try again.");
    } finally {
      if (mine === asked) answer.classList.remove("busy");
    }
  };

  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(ask, 250);
  };

  const through = async (bytes, stream) => new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());

  const pack = async () => {
    const bytes = await through(new TextEncoder().encode(JSON.stringify(fields())), new CompressionStream("deflate-raw"));
    let text = "";
    for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
    return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  };

  const unpack = async (text) => {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
    const parts = [];
    let size = 0;
    for (;;) {
      const {done, value} = await reader.read();
      if (done) break;
      size += value.length;
      if (size > limit) {
        await reader.cancel();
        throw new Error("too large");
      }
      parts.push(value);
    }
    return JSON.parse(await new Blob(parts).text());
  };

  const open = async () => {
    const packed = location.hash.match(/^#try=([A-Za-z0-9_-]+)$/);
    if (!packed) return;
    try {
      fill(await unpack(packed[1]));
    } catch {
      say("This link is broken: it holds nothing that can be tried.");
      return;
    }
    await ask();
  };

  form.addEventListener("input", soon);
  form.addEventListener("submit", (event) => {
    if (event.submitter && event.submitter.name === "suite") return;
    event.preventDefault();
    clearTimeout(timer);
    ask();
  });
  document.getElementById("example").addEventListener("change", (event) => event.target.form.submit());
  link.hidden = false;
  link.addEventListener("click", async () => {
    history.replaceState(null, "", "/playground#try=" + await pack());
    try {
      await navigator.clipboard.writeText(location.href);
      linked.textContent = "The link is in the clipboard.";
    } catch {
      linked.textContent = "The link is in the address bar.";
    }
  });
  addEventListener("hashchange", open);
  if (location.hash.startsWith("#try=")) open();
  else ask();
})();
