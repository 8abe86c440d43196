// Base64 in recorded values: a line of words, and the picture itself where a browser may draw it.

const DRAWN = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const STARTS = { iVBORw0KGgo: "image/png", "/9j/": "image/jpeg", R0lGOD: "image/gif", UklGR: "", JVBERi0: "application/pdf" };
const BLOB = /data:([\w.+-]+\/[\w.+-]+)?(?:;[\w.+-]+=[\w.+-]*)*;base64,([A-Za-z0-9+\/]{16,}={0,2})|(?<![A-Za-z0-9+\/])((?:iVBORw0KGgo|\/9j\/|R0lGOD|UklGR|JVBERi0)[A-Za-z0-9+\/]{60,}={0,2})/g;
const isBase64 = (text) => typeof text === "string" && text.length >= 16 && /^[A-Za-z0-9+/_\s-]+={0,2}\s*$/.test(text);

/** A blob: its type, its base64, and the line that stands for it. */
function blobOf(type, text) {
  const data = text.replace(/\s/g, "").replace(/-/g, "+").replace(/_/g, "/");
  let told = type || STARTS[Object.keys(STARTS).find((start) => data.startsWith(start))];
  if (!told && data.startsWith("UklGR")) told = { V0VC: "image/webp", dXQV: "audio/wav" }[data.slice(11, 15)] ?? (data.slice(10, 16).includes("V0VC") ? "image/webp" : "");
  const size = Math.floor(data.replace(/=/g, "").length * 3 / 4);
  return { type: told || "application/octet-stream", data, words: (told || "application/octet-stream") + " " + number(size) + " bytes" };
}

/** `value` without its base64: a line stands for each, and `found` takes them. The very same value where it has none. */
function foldBlobs(value, found, depth = 0) {
  if (typeof value === "string") {
    if (value.length < 32 || !(value.includes(";base64,") || Object.keys(STARTS).some((start) => value.includes(start)))) return value;
    return value.replace(BLOB, (whole, type, data, bare) => keepBlob(found, type, data ?? bare));
  }
  if (value === null || typeof value !== "object" || value instanceof Digits || depth > 100) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => foldBlobs(item, found, depth + 1));
    return items.some((item, n) => item !== value[n]) ? items : value;
  }
  const type = value.media_type ?? value.mimeType ?? value.mime_type ?? value.mediaType;
  const key = typeof type === "string" && type.includes("/") ? ["data", "content", "bytes", "image", "base64"].find((one) => isBase64(value[one])) : undefined;
  const fields = Object.entries(value).map(([name, inner]) => [name, name === key ? keepBlob(found, type, inner) : foldBlobs(inner, found, depth + 1)]);
  return fields.some(([name, inner]) => inner !== value[name]) ? Object.fromEntries(fields) : value;
}

function keepBlob(found, type, data) {
  const blob = blobOf(type, data);
  found.push(blob);
  return "[" + blob.words + "]";
}

/** A picture with its line; of a form that is not drawn, the line alone. The digest follows when it is taken. */
function blobView({ type, data, words }) {
  const digest = el("span", { class: "mono" }), line = el("figcaption", { class: "muted" }, words, " ", digest);
  let bytes = null;
  try { bytes = fromBase64(data); } catch { digest.textContent = "no base64 in full"; }
  if (bytes) digestOf(bytes).then((hex) => { digest.textContent = hex === null ? "" : "sha256 " + hex.slice(0, 16) + "…"; digest.title = hex === null ? "" : "sha256 " + hex; });
  return el("figure", null, bytes && DRAWN.includes(type) && el("img", { src: "data:" + type + ";base64," + data, alt: words, loading: "lazy" }), line);
}

/** What somebody said: its words, with pictures drawn below. */
function spoken(value) {
  const blobs = [], folded = foldBlobs(value, blobs);
  return [content(valueText(folded), "prose"), ...blobs.map(blobView)];
}
