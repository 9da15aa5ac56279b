// Returns the mistakes in the open page, one sentence each. The test evaluates this
// function; it is not part of the page. The allowed elements may occur although they run,
// load or send something.
(allowed) => {
  const wrong = [];
  const say = (what, element) => wrong.push(what + (element ? ": " + element.outerHTML.slice(0, 160) : ""));
  const all = (selector) => [...document.querySelectorAll(selector)];

  // Nothing that runs, loads or sends.
  const forbidden = ["script", "img", "iframe", "object", "embed", "form", "input", "video", "audio", "svg", "base"];
  all(forbidden.filter((name) => !allowed.includes(name)).join()).forEach((e) => say("forbidden element", e));
  all("*").forEach((e) => [...e.attributes].forEach((a) => a.name.startsWith("on") && say("handler", e)));
  all("a").forEach((e) => /^(https:|file:)/.test(e.href) || e.href.startsWith(location.origin + "/") || say("strange link", e));

  // Language, title, landmarks.
  if (document.documentElement.lang !== "en") say("no language");
  if (!document.title) say("no title");
  for (const name of ["header", "main", "footer"]) {
    if (all("body > " + name).length !== 1) say("not one " + name);
  }
  all("nav").forEach((e) => e.getAttribute("aria-label") || say("navigation without a label", e));
  all("section, article[id]").forEach((e) => document.getElementById(e.getAttribute("aria-labelledby"))?.textContent.trim() || say("no label", e));
  all("a, summary").forEach((e) => e.textContent.trim() || say("no text", e));
  all("a[href^='#']").forEach((e) => document.getElementById(e.getAttribute("href").slice(1)) || say("leads nowhere", e));
  const ids = all("[id]").map((e) => e.id);
  ids.forEach((id, i) => ids.indexOf(id) !== i && say("id twice " + id));

  // Headings in order.
  let last = 0;
  all("h1, h2, h3, h4, h5, h6").forEach((e) => {
    const level = Number(e.tagName[1]);
    if (level > last + 1) say("heading skips a level", e);
    last = level;
  });
  if (all("h1").length !== 1) say("not one h1");

  // Nothing is wider than the window or than its container.
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) say("scrolls sideways by " + (document.documentElement.scrollWidth - width));
  all("body *").forEach((e) => {
    if (e.closest(".vh, .skip")) return;
    const box = e.getBoundingClientRect();
    if (box.width > 0 && (box.right > width + 1 || box.left < -1)) say("outside of the window", e);
  });

  // Targets are large enough (WCAG 2.5.8), unless they are in a line of text.
  all("summary, nav a, button").forEach((e) => {
    const box = e.getBoundingClientRect();
    if (box.height > 0 && box.height < 18) say("too small to press, " + box.height, e);
  });

  // Contrast (WCAG 1.4.3) of each text with the nearest background.
  const rgba = (text) => {
    const m = text.match(/^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/);
    if (!m) { say("unknown colour " + text); return [0, 0, 0, 1]; }
    return [Number(m[1]), Number(m[2]), Number(m[3]), m[4] === undefined ? 1 : Number(m[4])];
  };
  const light = (c) => c.slice(0, 3).map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const background = (e) => {
    for (; e; e = e.parentElement) {
      const c = rgba(getComputedStyle(e).backgroundColor);
      if (c[3] === 1) return c;
      if (c[3] > 0) say("half a background", e);
    }
    say("no background");
    return [255, 255, 255, 1];
  };
  let texts = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const e = node.parentElement;
    if (!node.data.trim() || e.closest(".vh, .skip, style")) continue;
    texts++;
    for (const pseudo of [null, "::before"]) {
      const style = getComputedStyle(e, pseudo);
      if (pseudo && (style.content === "none" || style.content === "normal")) continue;
      const [a, b] = [light(rgba(style.color)), light(background(e))];
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      const size = parseFloat(style.fontSize);
      const large = size >= 24 || size >= 18.66 && Number(style.fontWeight) >= 700;
      if (ratio < (large ? 3 : 4.5)) say("contrast " + ratio.toFixed(2) + (pseudo || ""), e);
      if (size < 11) say("text of " + size + " pixels", e);
    }
  }
  if (texts < 5) say("there is no text to look at");
  return [...new Set(wrong)];
}
