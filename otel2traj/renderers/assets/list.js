// The list of steps: thousands of rows, a few dozen elements.

const ROW_HEIGHT = 58;

class StepList {
  constructor(box, rows, choose) {
    this.box = box;
    this.rows = rows;
    this.choose = choose;
    this.run = null;
    this.shown = [];
    this.selected = null;
    this.snippets = new Map();
    this.drawn = new Map();
    box.addEventListener("scroll", () => this.draw(), { passive: true });
    new ResizeObserver(() => this.draw()).observe(box);
    rows.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (row) this.choose(Number(row.dataset.at));
    });
  }

  /** Show these positions of the run, with words that explain a hit where there are any. */
  set(run, shown, snippets) {
    if (this.run !== run) this.selected = null;
    this.run = run;
    this.shown = shown;
    this.snippets = snippets || new Map();
    this.rows.style.height = shown.length * ROW_HEIGHT + "px";
    this.redraw();
  }

  redraw() {
    this.rows.replaceChildren();
    this.drawn.clear();
    this.draw();
  }

  select(at) {
    this.selected = at;
    const place = this.shown.indexOf(at);
    if (place >= 0) {
      const top = place * ROW_HEIGHT, room = this.box.clientHeight;
      if (top < this.box.scrollTop) this.box.scrollTop = top;
      else if (top + ROW_HEIGHT > this.box.scrollTop + room) this.box.scrollTop = top + ROW_HEIGHT - room;
    }
    for (const [other, row] of this.drawn) row.setAttribute("aria-selected", other === at ? "true" : "false");
    this.draw();
    if (place >= 0) this.box.setAttribute("aria-activedescendant", "row-" + at);
    else this.box.removeAttribute("aria-activedescendant");
  }

  /** The position after (or before) the selected one among those shown, for which `wanted` holds; null at the end. */
  next(direction, wanted) {
    let place = this.shown.indexOf(this.selected);
    if (place < 0) place = direction > 0 ? -1 : this.shown.length;
    for (place += direction; place >= 0 && place < this.shown.length; place += direction)
      if (!wanted || wanted(this.run.index.steps[this.shown[place]])) return this.shown[place];
    return null;
  }

  draw() {
    if (!this.run) return;
    const first = Math.max(0, Math.floor(this.box.scrollTop / ROW_HEIGHT) - 6);
    const last = Math.min(this.shown.length, Math.ceil((this.box.scrollTop + this.box.clientHeight) / ROW_HEIGHT) + 6);
    const wanted = new Set(this.shown.slice(first, last));
    for (const [at, row] of this.drawn) if (!wanted.has(at)) { row.remove(); this.drawn.delete(at); }
    for (let place = first; place < last; place++) {
      const at = this.shown[place];
      if (!this.drawn.has(at)) {
        const row = this.row(at, place);
        this.drawn.set(at, row);
        this.rows.append(row);
      }
    }
  }

  row(at, place) {
    const row = this.run.index.steps[at];
    const took = row[ROW.start] !== null && row[ROW.end] !== null ? seconds(row[ROW.end] - row[ROW.start]) : null;
    const tools = row[ROW.logs].map((log) => this.run.index.tools[log[LOG.tool]] ?? "(no name)");
    const snippet = this.snippets.get(at);
    const node = el("div", { class: "row", role: "option", id: "row-" + at, "aria-selected": at === this.selected ? "true" : "false",
      "aria-posinset": place + 1, "aria-setsize": this.shown.length },
      el("div", { class: "top" }, el("span", { class: "num" }, row[ROW.id]), el("span", { class: "who" }, this.run.agent(row)),
        el("span", { class: "marks" }, rowMarks(row)), took && el("span", { class: "took" }, took)),
      el("div", { class: "text" }, snippet ? "… " + snippet.replace(/\s+/g, " ") :
        [tools.length > 0 && el("b", null, tools.slice(0, 3).join(", ") + (tools.length > 3 ? " +" + (tools.length - 3) : "")),
          tools.length > 0 && row[ROW.preview] ? " · " : "", row[ROW.preview].replace(/\s+/g, " ")]));
    node.dataset.at = at;
    node.style.top = place * ROW_HEIGHT + "px";
    node.style.setProperty("--agent", agentColour(row[ROW.agent]));
    return node;
  }
}

const agentColour = (agent) => "var(--a" + (agent % 8) + ")";

/** What a row has to say besides its text, as marks with words. */
function rowMarks(row) {
  const logs = row[ROW.logs];
  const marks = [];
  const failed = logs.filter(logFailed), alone = row[ROW.kind] === "tool_only" && failed.length > 0;
  if (row[ROW.status] === "failed" && !alone) marks.push(pill("bad", "✗ failed"));
  if (row[ROW.status] === "incomplete") marks.push(pill("warn", "? no response"));
  if (failed.length) marks.push(pill("bad", "✗ " + (failed.length > 1 ? failed.length + " tools" : failed[0][LOG.exitFailed] ? failed[0][LOG.exit] : "error")));
  if (logs.some((log) => log[LOG.link] === "ambiguous")) marks.push(pill("warn", "~ ambiguous"));
  else if (logs.some((log) => log[LOG.execution] === "not_observed" && !log[LOG.inferred])) marks.push(pill("warn", "? not observed"));
  if (row[ROW.inferred] || logs.some((log) => log[LOG.inferred])) marks.push(pill("note", "i inferred"));
  if (row[ROW.kind] === "tool_only") marks.push(pill("plain", "tool only"));
  return marks.slice(0, 2);
}
