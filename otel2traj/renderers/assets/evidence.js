// Where the bytes are: path, line, digest; and the bytes themselves where the page holds them.

const keyOf = (record) => record.path + "@" + record.offset + "+" + record.length;
const placeOf = (record) => said(record.line) ? record.path + ":" + record.line : record.path + "@" + record.offset + "+" + record.length;

const PLACES = 8;

/** A list of the records behind something, each with its place, digest and bytes on demand. */
function places(run, record, evidence) {
  const records = Array.isArray(evidence.records) ? evidence.records.filter(isObject) : [];
  const list = el("ul", { class: "places" }, records.slice(0, PLACES).map((one) => placeRow(run, record, one)));
  if (records.length > PLACES) {
    const rest = el("button", { type: "button", class: "small" }, "Show " + (records.length - PLACES) + " more records");
    rest.addEventListener("click", () => rest.parentElement.replaceWith(...records.slice(PLACES).map((one) => placeRow(run, record, one))));
    list.append(el("li", null, rest));
  }
  if (!records.length) list.append(el("li", { class: "muted" }, "no address of bytes is recorded here"));
  return el("div", { class: "box" }, list);
}

/** A button beside a heading: from a value to the bytes it was read from. */
function bytesButton(evidence, ...kinds) {
  const records = Array.isArray(evidence.records) ? evidence.records.filter(isObject) : [];
  const one = kinds.map((kind) => records.find((record) => String(record.what).startsWith(kind))).find(Boolean);
  if (!one) return null;
  const show = () => {
    const row = byId("place-" + keyOf(one));
    if (!row) return;
    row.querySelector("button[aria-expanded=false]")?.click();
    row.scrollIntoView({ block: "center" });
    row.focus();
  };
  return el("button", { type: "button", class: "small", onclick: show, title: "Where these bytes stand" }, placeOf(one));
}

function placeRow(run, record, one) {
  const row = el("li", { id: "place-" + keyOf(one), tabIndex: -1 }, el("span", { class: "muted" }, one.what ?? "record"), el("span", { class: "mono" }, placeOf(one)),
    said(one.line) && el("span", { class: "mono muted" }, "@" + one.offset + "+" + one.length));
  if (said(one.sha256)) row.append(el("span", { class: "mono muted", title: "sha256 " + one.sha256 }, "sha256 " + String(one.sha256).slice(0, 16) + "…"));
  const place = (record.r || {})[keyOf(one)];
  if (!place) {
    row.append(el("span", { class: "muted" }, "the bytes are not in this page"));
    return row;
  }
  const button = el("button", { type: "button", class: "small", "aria-expanded": "false" }, "Show bytes");
  button.addEventListener("click", () => toggleRaw(run, row, button, place, one));
  row.append(button);
  return row;
}

async function toggleRaw(run, row, button, place, one) {
  const shown = row.querySelector(".raw");
  if (shown) {
    shown.remove();
    row.querySelector(".checked")?.remove();
  } else {
    const bytes = await run.raw(place);
    const digest = await digestOf(bytes);
    const holds = digest === null ? place[3] : digest === one.sha256;
    row.append(el("span", { class: "checked pill " + (holds ? "good" : "bad") },
      holds ? "✓ digest holds" : "✗ digest differs", " · ", number(bytes.length), " bytes"));
    row.append(el("div", { class: "raw inset" }, content(new TextDecoder().decode(bytes))));
  }
  button.textContent = shown ? "Show bytes" : "Hide bytes";
  button.setAttribute("aria-expanded", shown ? "false" : "true");
}

/** SHA-256 in hex, taken here and now; null where the browser offers no digest to this page. */
async function digestOf(bytes) {
  if (!window.crypto || !crypto.subtle) return null;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
