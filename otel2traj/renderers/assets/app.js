// State, addresses and keys: which run, which step, what is searched for.

const state = { runs: [], run: null, at: null, words: "", hits: null, agent: "", tool: "", failed: false, unsure: false, drawing: 0, searching: 0 };
const detail = byId("detail");
const list = new StepList(byId("list"), byId("rows"), (at) => go(at));
const lanes = new Lanes(byId("lanes"), (at) => go(at));

const prefix = (run) => state.runs.length > 1 ? "run-" + (run.number + 1) + "/" : "";
const address = (at) => "#" + prefix(state.run) + "step-" + state.run.index.steps[at][ROW.id];
const go = (at) => { if (at !== null && at !== undefined) location.hash = address(at); };

/** Follow the address: `#step-12`, `#overview`, `#runs`, each with `run-2/` before it where there are many runs. */
async function follow() {
  const parsed = /^#?(?:run-(\d+)\/)?(?:step-(\d+)|(overview|runs))?$/.exec(location.hash);
  const wanted = parsed && parsed[1] ? Number(parsed[1]) - 1 : state.run ? state.run.number : 0;
  if (!state.runs.length) return draw(async () => [el("h2", { id: "heading" }, "Nothing recorded yet"), el("p", { class: "muted" }, "This page fills as evidence arrives.")]);
  if (!parsed || (parsed[1] && !state.runs[wanted])) {
    if (!state.run) await openRun(0);
    const there = state.runs.length > 1 ? "Runs 1 to " + state.runs.length + ", each with an overview and its steps." : "The overview, and steps " + state.run.index.steps.length + " in all.";
    return draw(async () => [el("h2", { id: "heading", tabIndex: -1 }, "This link leads nowhere"),
      el("p", null, "There is nothing at ", el("span", { class: "mono" }, location.hash), " in this page. What it has: " + there), el("p", null, el("a", { href: "#" + prefix(state.run) + "overview" }, "Go to the overview"))], "nowhere");
  }
  if (!state.run || state.run.number !== wanted) await openRun(Math.max(0, Math.min(wanted, state.runs.length - 1)));
  const many = state.runs.length > 1;
  name(state.run);
  if (many && parsed && !parsed[1] && (parsed[2] || parsed[3] === "overview"))
    history.replaceState(null, "", "#" + prefix(state.run) + location.hash.replace(/^#/, ""));
  if (parsed && parsed[2]) {
    const at = state.run.rowOf.get(Number(parsed[2]));
    return at === undefined ? draw(async () => [el("h2", { id: "heading", tabIndex: -1 }, "There is no step " + parsed[2]),
      el("p", null, "This run has " + number(state.run.index.steps.length) + " steps. ", el("a", { href: "#" + prefix(state.run) + "overview" }, "Go to the overview"))], "nowhere") : showStep(at);
  }
  state.at = null;
  list.select(null);
  lanes.select(null);
  const runs = many && (!parsed || parsed[3] === "runs" || (!parsed[3] && !parsed[1]));
  if (runs) {
    byId("status").hidden = true;
    byId("title").textContent = state.runs.length + " runs";
  }
  return draw(async () => runs ? runsView(state.runs) : overviewView(state.run), "overview");
}

async function openRun(number, version) {
  const run = await Run.load(number, version ?? state.runs[number].version);
  const other = !state.run || state.run.number !== number;
  state.run = run;
  name(run);
  if (other) Object.assign(state, { agent: "", tool: "", at: null, hits: null });
  if (state.at !== null && state.at >= run.index.steps.length) state.at = null;
  fillSelect("by-agent", "All agents", run.index.agents, state.agent);
  fillSelect("by-tool", "All tools", run.index.tools, state.tool);
  filter();
  if (state.words) search(state.words);
}

function name(run) {
  const [mark, words] = run.index.ended, tone = TONES[mark] ?? "plain", title = visible(run.index.title.replace(/\s+/g, " "));
  byId("status").hidden = false;
  byId("status").className = "pill " + tone;
  byId("status").textContent = mark + " " + words;
  byId("title").textContent = byId("title").title = title.slice(0, 300);
  document.title = title.slice(0, 80) + " · otel2traj";
  byId("pick").value = String(run.number);
}

function fillSelect(id, all, names, value) {
  byId(id).replaceChildren(el("option", { value: "" }, all), ...names.map((name, n) => el("option", { value: String(n) }, name ?? "(not recorded)")));
  byId(id).value = value;
}

/** Which steps the list shows: filters first, then hits of a search. */
function filter() {
  const steps = state.run.index.steps, shown = [];
  steps.forEach((row, at) => {
    if (state.agent !== "" && row[ROW.agent] !== Number(state.agent)) return;
    if (state.tool !== "" && !row[ROW.logs].some((log) => log[LOG.tool] === Number(state.tool))) return;
    if (state.failed && !rowFailed(row)) return;
    if (state.unsure && !rowUnsure(row)) return;
    if (state.hits && !state.hits.has(at)) return;
    shown.push(at);
  });
  list.set(state.run, shown, state.hits);
  lanes.set(state.run, shown);
  list.select(state.at);
  lanes.select(state.at);
  const failed = steps.filter(rowFailed).length, unsure = steps.filter(rowUnsure).length;
  byId("by-failed").textContent = "✗ Failures " + failed;
  byId("by-unsure").textContent = "? Not known " + unsure;
  if (!state.words) byId("found").textContent = shown.length === steps.length ? number(steps.length) + " steps" : number(shown.length) + " of " + number(steps.length) + " steps";
}

async function draw(view, name) {
  const turn = ++state.drawing;
  let nodes;
  try { nodes = await view(); } catch (err) { nodes = [el("h2", { id: "heading" }, "This cannot be shown"), el("p", null, String(err && err.message || err))]; }
  if (turn !== state.drawing) return;
  detail.replaceChildren(...nodes);
  detail.scrollTop = 0;
  detail.dataset.shows = name || "message";
  highlight();
}

async function showStep(at) {
  state.at = at;
  list.select(at);
  lanes.select(at);
  await draw(() => stepView(state.run, at, go), "step-" + state.run.index.steps[at][ROW.id]);
}

// search

function search(words) {
  state.words = words;
  const turn = ++state.searching;
  const wanted = words.toLowerCase();
  if (wanted.length < 2) {
    state.hits = null;
    state.words = "";
    filter();
    highlight();
    return;
  }
  state.hits = new Map();
  const { run } = state, { index } = run;
  index.steps.forEach((row, at) => {
    const tools = row[ROW.logs].map((log) => index.tools[log[LOG.tool]]);
    const text = [row[ROW.preview], run.agent(row), index.models[row[ROW.model]], ...tools].find((one) => said(one) && one.toLowerCase().includes(wanted));
    if (text !== undefined) state.hits.set(at, text === row[ROW.preview] ? text : text + " · " + row[ROW.preview]);
  });
  filter();
  tell(0, run.parts);
  highlight();
  searchParts(run, words, (hits, done, of) => {
    let grew = false;
    for (const [at, text] of hits) if (at < index.steps.length && !state.hits.has(at)) { state.hits.set(at, text); grew = true; }
    if (grew) filter();
    tell(done, of);
  }, () => turn === state.searching).catch((err) => { byId("found").textContent = "The search stopped: " + err.message; });
}

function tell(done, of) {
  const count = state.hits.size, words = count === 1 ? "1 step has it" : number(count) + " steps have it";
  byId("found").textContent = words + (done < of ? "; looking through part " + (done + 1) + " of " + of + " …" : "");
  byId("found").dataset.done = done >= of ? "1" : "0";
}

/** Mark the words in what is shown, without touching the document: a highlight is a range, not an element. */
function highlight() {
  if (!window.Highlight || !CSS.highlights) return;
  CSS.highlights.delete("found");
  if (!state.words) return;
  const wanted = state.words.toLowerCase();
  for (const pre of detail.querySelectorAll("pre")) if (pre.openTo) pre.openTo(wanted);
  const walker = document.createTreeWalker(detail, NodeFilter.SHOW_TEXT), ranges = [];
  while (walker.nextNode() && ranges.length < 2000) {
    const text = walker.currentNode.data.toLowerCase();
    for (let from = text.indexOf(wanted); from >= 0 && ranges.length < 2000; from = text.indexOf(wanted, from + wanted.length)) {
      if (from + wanted.length > walker.currentNode.length) break;
      const range = new Range();
      range.setStart(walker.currentNode, from);
      range.setEnd(walker.currentNode, from + wanted.length);
      ranges.push(range);
    }
  }
  if (!ranges.length) return;
  CSS.highlights.set("found", new Highlight(...ranges));
  const first = ranges.find((range) => !range.startContainer.parentElement.closest("details:not([open])")) ?? ranges[0];
  const box = first.getBoundingClientRect(), frame = detail.getBoundingClientRect();
  if (box.bottom > frame.bottom || box.top < frame.top) detail.scrollTop += box.top - frame.top - 120;
}

// keys

function focusStep() { (byId("heading") || detail).focus(); }

function escape(event) {
  const inField = event.target.matches("input, select");
  if (detail.contains(document.activeElement)) byId("list").focus();
  else if (state.words || state.agent || state.tool || state.failed || state.unsure) clearAll();
  else location.hash = "#" + prefix(state.run) + "overview";
  if (inField) byId("list").focus();
}

function clearAll() {
  Object.assign(state, { agent: "", tool: "", failed: false, unsure: false });
  byId("find").value = "";
  for (const id of ["by-agent", "by-tool"]) byId(id).value = "";
  for (const id of ["by-failed", "by-unsure"]) byId(id).setAttribute("aria-pressed", "false");
  search("");
}

const KEYS = {
  j: () => go(list.next(1)),
  k: () => go(list.next(-1)),
  n: () => go(list.next(1, rowFailed)),
  p: () => go(list.next(-1, rowFailed)),
  o: () => { location.hash = "#" + prefix(state.run) + "overview"; },
  e: () => { const place = byId("evidence"); if (place) { place.scrollIntoView(); place.focus(); } },
  "/": () => { byId("find").focus(); byId("find").select(); },
  "?": () => byId("help").showModal(),
  ArrowDown: () => go(list.next(1)),
  ArrowUp: () => go(list.next(-1)),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open || !state.run) return;
  const field = event.target.matches("input, select, textarea");
  if (event.key === "Escape") { event.preventDefault(); escape(event); return; }
  if (event.key === "Enter" && event.target === byId("find")) { event.preventDefault(); go(list.next(1) ?? list.shown[0]); byId("list").focus(); return; }
  if (field) return;
  if (event.key === "Enter" && (event.target === byId("list") || event.target === document.body)) { event.preventDefault(); focusStep(); return; }
  if (event.key.startsWith("Arrow") && event.target !== byId("list")) return;
  const act = KEYS[event.key];
  if (act) { event.preventDefault(); act(); }
});

let typing = 0;
byId("find").addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(() => search(byId("find").value.trim()), 160); });
byId("by-agent").addEventListener("change", (event) => { state.agent = event.target.value; filter(); });
byId("by-tool").addEventListener("change", (event) => { state.tool = event.target.value; filter(); });
for (const name of ["failed", "unsure"])
  byId("by-" + name).addEventListener("click", (event) => { state[name] = !state[name]; event.currentTarget.setAttribute("aria-pressed", String(state[name])); filter(); });
byId("go-overview").addEventListener("click", () => { location.hash = "#" + (state.runs.length > 1 && !state.at ? "runs" : prefix(state.run) + "overview"); });
byId("go-help").addEventListener("click", () => byId("help").showModal());
byId("pick").addEventListener("change", (event) => { location.hash = "#run-" + (Number(event.target.value) + 1) + "/overview"; });
window.addEventListener("hashchange", () => follow().catch((err) => draw(async () => { throw err; })));

// a run that is still growing

async function poll() {
  try {
    const answer = await fetch("state", { cache: "no-store" });
    if (!answer.ok) throw new Error("status " + answer.status);
    await take(await answer.json());
  } catch (err) {
    live("The server does not answer (" + err.message + "). What is shown stays; this page asks again.");
  }
  setTimeout(poll, 2000);
}

function live(words) { byId("live").hidden = false; byId("live").textContent = visible(words); }

async function take(news) {
  const old = state.runs, first = !state.run;
  state.runs = news.runs;
  showRuns();
  if (first && state.runs.length) await follow();
  else if (state.run && state.runs[state.run.number] && state.runs[state.run.number].version !== state.run.version) {
    const shows = detail.dataset.shows, scroll = detail.scrollTop, steps = state.run.index.steps.length;
    await openRun(state.run.number);
    if (shows === "overview" || state.run.index.steps.length < steps) await follow();
    else if (state.at !== null) { list.select(state.at); lanes.select(state.at); detail.scrollTop = scroll; }
  } else if (detail.dataset.shows === "overview" && JSON.stringify(old) !== JSON.stringify(news.runs)) await follow();
  live(news.error ? "The last change could not be read yet: " + news.error : "Live: this page follows the evidence as it arrives" + (news.building ? "; reading …" : "") + ".");
}

function showRuns() {
  byId("pick-box").hidden = state.runs.length < 2;
  if (byId("pick").childElementCount === state.runs.length) return;
  byId("pick").replaceChildren(...state.runs.map((one, n) => el("option", { value: String(n) }, one.ended[0] + " " + one.label)));
  if (state.run) byId("pick").value = String(state.run.number);
}

async function start() {
  if (LIVE) { await follow(); poll(); return; }
  state.runs = await packedJson("runs");
  showRuns();
  if (MODE === "report") {
    document.body.classList.add("report");
    await openRun(0);
    await draw(async () => { const all = []; for (let n = 0; n < state.runs.length; n++) all.push(...await reportView(n ? await Run.load(n) : state.run)); return all; }, "report");
    for (const box of document.querySelectorAll("details")) box.open = true;
  } else await follow();
  performance.mark("shown");
}

start();
