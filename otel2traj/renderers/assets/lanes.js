// The timeline: one lane an agent, steps from left to right in their order, failures marked by shape and colour.

const LANE = 20, AXIS = 18;

class Lanes {
  constructor(box, choose) {
    this.box = box;
    this.canvas = byId("lane-canvas");
    this.tip = byId("lane-tip");
    this.run = null;
    this.selected = null;
    this.shown = null;
    this.byTime = false;
    byId("lane-mode").addEventListener("click", (event) => {
      this.byTime = !this.byTime;
      event.currentTarget.setAttribute("aria-pressed", String(this.byTime));
      this.size();
    });
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    this.canvas.addEventListener("click", (event) => { const at = this.at(event); if (at !== null) choose(at); });
    this.canvas.addEventListener("mousemove", (event) => this.point(event));
    this.canvas.addEventListener("mouseleave", () => { this.tip.hidden = true; });
  }

  set(run, shown) {
    if (this.run !== run) this.selected = null;
    this.run = run;
    this.shown = shown.length === run.index.steps.length ? null : new Set(shown);
    this.agents = run.index.agents;
    byId("lane-names").replaceChildren(...this.agents.map((name) => el("div", { title: name ?? "" }, name ?? "(not recorded)")));
    const times = run.index.steps.flatMap((row) => [row[ROW.start], row[ROW.end]]).filter(said);
    this.from = times.reduce((a, b) => Math.min(a, b), Infinity);
    this.till = times.reduce((a, b) => Math.max(a, b), -Infinity);
    byId("lane-mode").hidden = !(this.till > this.from);
    if (byId("lane-mode").hidden) this.byTime = false;
    this.box.hidden = run.index.steps.length === 0;
    this.canvas.setAttribute("aria-label", "Timeline of " + run.index.steps.length + " steps by " + this.agents.length +
      " agents; the list of steps says the same");
    this.size();
  }

  size() {
    this.canvas.style.height = Math.max(1, this.agents.length) * LANE + (this.byTime ? AXIS : 0) + "px";
    this.draw();
  }

  /** `[x, width]` of a stretch of time, at least two pixels wide. */
  stretch(start, end, width) {
    const scale = width / (this.till - this.from), x = ((start ?? end) - this.from) * scale;
    return [Math.min(x, width - 2), Math.max(2, ((end ?? start) - (start ?? end)) * scale)];
  }

  axis(pen, width, y, colour) {
    pen.fillStyle = colour;
    pen.font = "10px sans-serif";
    const ticks = Math.max(2, Math.floor(width / 140));
    for (let n = 0; n <= ticks; n++) {
      const x = width * n / ticks;
      pen.textAlign = n === 0 ? "left" : n === ticks ? "right" : "center";
      pen.fillRect(Math.min(x, width - 1), y, 1, 4);
      pen.fillText("+" + seconds(Math.round((this.till - this.from) * n / ticks)), x, y + 14);
    }
  }

  select(at) { this.selected = at; this.draw(); }

  draw() {
    if (!this.run || !this.canvas.clientWidth) return;
    const ratio = window.devicePixelRatio || 1, width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    const pen = this.canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    pen.scale(ratio, ratio);
    const steps = this.run.index.steps, wide = width / steps.length, bar = Math.max(1, Math.min(wide - (wide > 4 ? 2 : 0), 34));
    pen.fillStyle = colour("--line");
    for (let lane = 0; lane < this.agents.length; lane++) pen.fillRect(0, lane * LANE + LANE / 2 - .5, width, 1);
    const colours = Array.from({ length: 8 }, (_, n) => colour("--a" + n)), bad = colour("--bad"), warn = colour("--warn");
    const late = [];
    if (this.byTime) this.axis(pen, width, this.agents.length * LANE, colour("--soft"));
    const place = (row, at) => this.byTime ? this.stretch(row[ROW.start], row[ROW.end], width) : [at * wide + (wide - bar) / 2, bar];
    steps.forEach((row, at) => {
      if (this.byTime && !said(row[ROW.start]) && !said(row[ROW.end])) return;
      const [x, bar] = place(row, at), y = row[ROW.agent] * LANE;
      pen.globalAlpha = this.shown && !this.shown.has(at) ? .18 : row[ROW.kind] === "tool_only" ? .55 : .9;
      pen.fillStyle = colours[row[ROW.agent] % 8];
      pen.fillRect(x, y + 6, bar, LANE - 12);
      if (this.byTime) row[ROW.logs].forEach((log, n) => {
        if (!said(log[LOG.start])) return;
        const [from, long] = this.stretch(log[LOG.start], log[LOG.end], width);
        pen.fillRect(from, y + (n % 2 ? 1 : 15), long, 4);
      });
      if (rowFailed(row)) late.push([x, y, bad, true, bar]);
      else if (rowUnsure(row) && wide > 3) late.push([x, y, warn, false, bar]);
    });
    pen.globalAlpha = 1;
    for (const [x, y, tone, tall, bar] of late) {
      pen.fillStyle = tone;
      pen.fillRect(x, tall ? y + 2 : y + 15, Math.max(bar, 2), tall ? LANE - 4 : 3);
    }
    if (this.selected !== null) {
      const row = steps[this.selected];
      pen.strokeStyle = colour("--ink");
      pen.lineWidth = 2;
      const [x, bar] = place(row, this.selected);
      pen.strokeRect(x - 2, row[ROW.agent] * LANE + 2, bar + 4, LANE - 4);
    }
  }

  at(event) {
    const steps = this.run ? this.run.index.steps.length : 0;
    if (!steps) return null;
    if (this.byTime) return this.nearest(event.offsetX, Math.floor(event.offsetY / LANE));
    const place = Math.floor((event.offsetX / this.canvas.clientWidth) * steps);
    return Math.max(0, Math.min(steps - 1, place));
  }

  /** The step of a lane whose stretch of time is nearest to a place. */
  nearest(x, lane) {
    let best = null, least = Infinity;
    this.run.index.steps.forEach((row, at) => {
      if (row[ROW.agent] !== lane || (!said(row[ROW.start]) && !said(row[ROW.end]))) return;
      const [from, long] = this.stretch(row[ROW.start], row[ROW.end], this.canvas.clientWidth);
      const away = x < from ? from - x : x > from + long ? x - from - long : 0;
      if (away < least) [best, least] = [at, away];
    });
    return best;
  }

  point(event) {
    const at = this.at(event);
    if (at === null) return;
    const row = this.run.index.steps[at];
    this.tip.textContent = visible("step " + row[ROW.id] + " · " + this.run.agent(row) + (rowFailed(row) ? " · ✗ failure" : "") +
      (row[ROW.preview] ? " · " + row[ROW.preview].slice(0, 80) : ""));
    this.tip.hidden = false;
    this.tip.style.left = Math.min(event.clientX + 12, window.innerWidth - 380) + "px";
    this.tip.style.top = event.clientY + 16 + "px";
  }
}
