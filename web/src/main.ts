// The viewer: panes in step, one a method, of one clip.

import * as api from "./api";
import { Crowd } from "./crowd";
import { Eye, layout } from "./eye";
import { BodySurface, Figure, TINTS } from "./figure";
import { distances, drawBar } from "./heat";
import { Track } from "./track";

const SIMULATION = "simulation";
/** Simulated while it is watched, in a fabric and a wind of one's choice. */
const LIVE = "live";
const LIVE_NAME = "simulated now";
/** How wide the bar of a coefficient is, with a gap. */
const BAR = 4;
/** Ends of the bar [cm]. */
const ENDS = [1, 2, 5, 10, 20];

interface Pane {
  name: string;
  figure: Figure;
  label: HTMLDivElement;
  figures: HTMLParagraphElement;
  bars: HTMLCanvasElement;
  /** Which vector of its basis is looked at, and whether it stays so without being pointed
   * at. */
  vector: number | undefined;
  isKept: boolean;
  /** How far its vectors move vertices, once that was asked for; or why it is not known. */
  basis: Float32Array | "asked" | Error | undefined;
  track: Track | undefined;
  isShown: boolean;
  distances: Float32Array;
}

function element<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`there is no ${id} on the page`);
  return found as T;
}

const canvas = element<HTMLCanvasElement>("canvas");
const stage = element("stage");
const labels = element("labels");
const message = element("message");
const clipChoice = element<HTMLSelectElement>("clip");
const garmentChoice = element<HTMLSelectElement>("garment");
const scrub = element<HTMLInputElement>("scrub");
const play = element<HTMLButtonElement>("play");
const check = (id: string) => element<HTMLInputElement>(id);

const eye = new Eye(canvas, stage);

let catalog: api.Catalog;
/** The body of the methods, of the chosen shape, and that of the simulation. */
let body: BodySurface;
let bodyTrack: Track | undefined;
let ownBody: BodySurface;
let ownTrack: Track | undefined;
let panes: Pane[] = [];
/** The garment that panes are of, and the meshes of it and the body. */
let opened: { garment: api.Garment; skin: api.MeshData; cloth: api.MeshData } | undefined;
/** Which garment is being opened, counted. */
let opening = 0;
let crowd: Crowd | undefined;
let isAimed = false;
let shape: number[] | undefined;
/** Frame shown, and time since then [s]. */
let frame = 0;
let since = 0;
let isPlaying = true;
let isStale = true;

function say(text: string): void {
  message.textContent = text;
}

function stale(): void {
  isStale = true;
}

function currentClip(): api.Clip {
  return catalog.clips.find((c) => c.name === clipChoice.value) ?? catalog.clips[0]!;
}

function currentGarment(): api.Garment {
  return catalog.garments.find((g) => g.name === garmentChoice.value) ?? catalog.garments[0]!;
}

/** Meshes and panes of the chosen garment. */
async function openGarment(): Promise<void> {
  say("loading…");
  const garment = currentGarment();
  const own = ++opening;
  close();
  opened = undefined;
  const [skin, cloth] = await Promise.all([
    api.mesh("body", garment.name),
    api.mesh("garment", garment.name),
  ]);
  // Another may have been chosen meanwhile.
  if (own !== opening) return;
  opened = { garment, skin, cloth };
  panes.forEach((pane) => pane.figure.dispose());
  body = new BodySurface(skin);
  ownBody = new BodySurface(skin);
  arrange();
  labels.replaceChildren();
  const hasLive = catalog.has_body;
  const names = [SIMULATION, ...garment.methods.map((m) => m.name), ...(hasLive ? [LIVE] : [])];
  panes = names.map((name, i) => {
    const label = document.createElement("div");
    label.className = "pane";
    label.dataset.method = name;
    const title = document.createElement("h2");
    title.textContent = titleOf(name);
    const figures = document.createElement("p");
    const bars = document.createElement("canvas");
    bars.className = "bars";
    bars.hidden = true;
    label.append(title, bars, figures);
    labels.append(label);
    const pane: Pane = {
      name,
      figure: new Figure(name === SIMULATION ? ownBody : body, cloth, TINTS[i % TINTS.length]!),
      label,
      figures,
      bars,
      vector: undefined,
      isKept: false,
      basis: undefined,
      track: undefined,
      isShown: i < 4 && name !== LIVE,
      distances: new Float32Array(cloth.vertices),
    };
    watchBars(pane, garment.name);
    return pane;
  });
  const list = element("panes");
  list.replaceChildren(
    ...panes.map((pane, i) => {
      const label = document.createElement("label");
      const box = document.createElement("input");
      box.type = "checkbox";
      box.checked = pane.isShown;
      box.dataset.pane = pane.name;
      box.addEventListener("change", () => {
        pane.isShown = box.checked;
        if (pane.name === LIVE && !pane.isShown) closePane(pane);
        openTracks(frame);
      });
      const key = document.createElement("kbd");
      key.textContent = i < 9 ? String(i + 1) : "";
      label.append(box, titleOf(pane.name), key);
      return label;
    }),
  );
  const fabric = element<HTMLSelectElement>("fabric");
  const all = catalog.fabrics.map((name) => ({ value: name, text: name }));
  const first = garment.fabric ? [{ value: "", text: `${garment.fabric} (as simulated)` }] : [];
  options(fabric, [...first, ...all.filter(({ value }) => value !== garment.fabric)]);
  if (!garment.fabric) fabric.value = "cotton-plain";
  const crowds = garment.methods.filter((m) => m.crowd);
  options(
    element("crowd-method"),
    crowds.map((m) => ({ value: m.name, text: m.name })),
  );
  element("crowds").hidden = crowds.length === 0;
  if (crowds.length === 0) check("crowd").checked = false;
  element("air").hidden = !hasLive;
  openClip();
}

function titleOf(name: string): string {
  return name === LIVE ? LIVE_NAME : name;
}

function arrange(): void {
  for (const surface of [body, ownBody]) surface.arrange(check("over").checked);
}

function close(): void {
  closeCrowd();
  ownTrack?.close();
  ownTrack = undefined;
  bodyTrack?.close();
  bodyTrack = undefined;
  panes.forEach(closePane);
}

function closePane(pane: Pane): void {
  pane.track?.close();
  pane.track = undefined;
}

/** From the first frame of the chosen clip on. */
function openClip(): void {
  frame = 0;
  since = 0;
  eye.forget();
  shape = undefined;
  scrub.max = String(currentClip().frames - 1);
  sliders();
  close();
  openTracks(0);
}

/** Loads what is shown and not there, from a frame on. */
function openTracks(first: number): void {
  document.body.dataset.ready = "false";
  if (!opened) return;
  const clip = currentClip();
  const own = { clip: clip.name, garment: opened.garment.name };
  const common = {
    ...own,
    ...(shape ? { shape: shape.join(",") } : {}),
    ...(check("correct").checked ? {} : { correct: "0" }),
    ...(check("deep").checked ? { gauge: "1" } : {}),
  };
  ownTrack ??= new Track({ ...own, of: "body" }, clip.frames, first, stale);
  if (shape) bodyTrack ??= new Track({ ...common, of: "body" }, clip.frames, first, stale);
  for (const pane of panes) {
    // The simulation is what others are compared with, shown or not.
    if (!isThere(pane) || (!pane.isShown && pane.name !== SIMULATION)) continue;
    // What is simulated now has to begin at the beginning.
    const start = pane.name === LIVE ? 0 : first;
    const more = pane.name === LIVE ? air() : {};
    const from = pane.name === SIMULATION ? { ...common, ...own, shape: undefined } : common;
    const query = { ...from, ...more, of: pane.name } as Record<string, string | undefined>;
    pane.track ??= new Track(defined(query), clip.frames, start, stale);
  }
  for (const box of element("panes").querySelectorAll<HTMLInputElement>("input")) {
    box.disabled = box.dataset.pane === SIMULATION && !clip.simulated;
  }
  if (check("crowd").checked) openCrowd();
  stale();
}

function defined(query: Record<string, string | undefined>): Record<string, string> {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  return Object.fromEntries(pairs) as Record<string, string>;
}

/** Whether there is anything to be seen in a pane. */
function isThere(pane: Pane): boolean {
  return pane.name !== SIMULATION || currentClip().simulated;
}

/** The fabric and the wind that are chosen. */
function air(): Record<string, string> {
  const fabric = element<HTMLSelectElement>("fabric").value;
  const speed = Number(element<HTMLInputElement>("wind-speed").value);
  const towards = (Number(element<HTMLInputElement>("wind-from").value) * Math.PI) / 180;
  const wind = [-Math.sin(towards) * speed, 0, -Math.cos(towards) * speed];
  element("wind-speed-value").textContent = `${speed.toFixed(1)} m/s`;
  element("wind-from-value").textContent = `${element<HTMLInputElement>("wind-from").value}°`;
  return {
    ...(fabric ? { fabric } : {}),
    ...(speed > 0 ? { wind: wind.map((w) => w.toFixed(3)).join(",") } : {}),
  };
}

/** What is simulated now, again. */
function reopenLive(): void {
  air();
  panes.filter((pane) => pane.name === LIVE).forEach(closePane);
  openTracks(frame);
}

function openCrowd(): void {
  if (crowd || !ownTrack || !opened) return;
  isAimed = false;
  crowd = new Crowd(
    {
      of: "crowd",
      clip: currentClip().name,
      garment: opened.garment.name,
      method: element<HTMLSelectElement>("crowd-method").value,
      count: element<HTMLSelectElement>("crowd-count").value,
    },
    opened.skin,
    opened.cloth,
    ownTrack,
    TINTS,
    eye.maxTextureSize,
  );
}

function closeCrowd(): void {
  if (!crowd) return;
  crowd.close();
  crowd = undefined;
  eye.forget();
  element("crowd-figures").textContent = "";
}

/** The next frame of the crowd. */
function advanceCrowd(now: number): void {
  if (!crowd) return;
  if (crowd.failure) {
    say(crowd.failure);
    // A stream that nobody read for a while was closed; there is another.
    if (crowd.figures) {
      closeCrowd();
      openCrowd();
      isAimed = true;
    }
    return;
  }
  if (!isAimed && crowd.radius) {
    eye.survey(crowd.radius);
    isAimed = true;
  }
  if (!crowd.advance(now)) return;
  const figures = crowd.figures;
  if (!figures) return;
  say("");
  document.body.dataset.crowd = String(Number(document.body.dataset.crowd ?? "0") + 1);
  const rate = figures.rate > 0 ? `, ${figures.rate.toFixed(figures.rate < 10 ? 1 : 0)} frames/s` : "";
  element("crowd-figures").textContent =
    `${figures.characters} characters${rate}\n` +
    `${figures.ms.toFixed(1)} ms to animate, ${figures.megabytes.toFixed(1)} MB a frame`;
}

/** Everything that depends on the shape or on correction, again, but for some panes. */
function reopen(...but: string[]): void {
  bodyTrack?.close();
  bodyTrack = undefined;
  panes.filter((pane) => !but.includes(pane.name)).forEach(closePane);
  openTracks(frame);
}

function sliders(): void {
  const own = currentClip().shape;
  element("shapes").hidden = catalog.shape.length === 0;
  element("sliders").replaceChildren(
    ...catalog.shape.map((parameter, i) => {
      const label = document.createElement("label");
      label.className = "slider";
      const range = document.createElement("input");
      range.type = "range";
      range.min = String(parameter.min);
      range.max = String(parameter.max);
      range.step = "0.1";
      range.value = String((shape ?? own)[i] ?? 0);
      range.dataset.shape = parameter.name;
      const value = document.createElement("output");
      value.textContent = Number(range.value).toFixed(1);
      range.addEventListener("input", () => {
        value.textContent = Number(range.value).toFixed(1);
        shape = [...(shape ?? own)];
        shape[i] = Number(range.value);
        reopen(SIMULATION, LIVE);
      });
      // Dressing takes too long to be done again at every step of a slider.
      range.addEventListener("change", reopenLive);
      label.append(parameter.name, range, value);
      return label;
    }),
  );
}

function shown(): Pane[] {
  return panes.filter((pane) => pane.isShown && isThere(pane));
}

/** What is shown of the current frame. */
function placeFrame(): void {
  const own = ownTrack?.at(frame);
  const skin = shape ? bodyTrack?.at(frame) : own;
  if (own) {
    ownBody.place(own.positions);
    eye.follow(own.positions, check("follow").checked);
  }
  if (skin) body.place(skin.positions);
  const simulated = panes.find((pane) => pane.name === SIMULATION)?.track?.at(frame);
  const isHeat = check("heat").checked;
  const end = Number(element<HTMLSelectElement>("heat-range").value) / 100;
  let failure = ownTrack?.failure ?? bodyTrack?.failure;
  for (const pane of shown()) {
    const cloth = pane.track?.at(frame);
    const isOther = pane.name !== SIMULATION;
    failure ??= pane.track?.failure;
    pane.figure.show({
      body: check("body").checked && (isOther ? skin : own) !== undefined,
      wire: check("wire").checked,
      cloth: cloth !== undefined,
    });
    if (!cloth) {
      pane.figures.textContent = "…";
      continue;
    }
    pane.figure.place(cloth.positions);
    // Another shape has no simulation to be compared with.
    const isCompared = isOther && simulated?.frame === cloth.frame && !shape;
    const lines = isOther ? [] : ["as stored"];
    if (cloth.depths) {
      const percent = 100 * cloth.inside;
      lines.push(`${(1000 * cloth.deepest).toFixed(1)} mm inside, ${percent.toFixed(2)} % over 1 mm`);
    }
    if (isCompared && simulated) {
      const mean = distances(cloth.positions, simulated.positions, pane.distances);
      lines.push(`${(100 * mean).toFixed(2)} cm from the simulation`);
    }
    if (isOther) {
      lines.push(`${cloth.ms.toFixed(1)} ms, confidence ${cloth.confidence.toFixed(2)}`);
      if (cloth.moved > 0) lines.push(`pushed by up to ${(1000 * cloth.moved).toFixed(1)} mm`);
    }
    pane.figures.textContent = lines.join("\n");
    const vector = vectorOf(pane, cloth.coefficients);
    if (vector) {
      if (vector.shares) pane.figure.paintShares(vector.shares);
      pane.figures.textContent += `\n${vector.text}`;
    } else if (cloth.depths) pane.figure.paintDepths(cloth.depths);
    else if (isHeat && isCompared) pane.figure.paintDistances(pane.distances, end);
    else pane.figure.paintPlain();
    pane.bars.hidden = !check("work").checked || cloth.coefficients.length === 0;
    if (!pane.bars.hidden) drawBars(pane, cloth.coefficients);
  }
  say(failure ?? (own ? "" : "loading…"));
  const clip = currentClip();
  const rate = catalog.frame_rate;
  scrub.value = String(frame);
  element("time").textContent = `${frame + 1}/${clip.frames} · ${(frame / rate).toFixed(2)} s`;
  document.body.dataset.frame = String(frame);
  document.body.dataset.ready = String(isReady(frame));
}

/** Looks at the vector whose bar is pointed at; a click keeps it. */
function watchBars(pane: Pane, garment: string): void {
  const pick = (event: MouseEvent): number => {
    const box = pane.bars.getBoundingClientRect();
    const share = (event.clientX - box.left) / Math.max(box.width, 1);
    const n = pane.bars.width / BAR;
    return Math.min(Math.max(Math.floor(share * n), 0), n - 1);
  };
  const look = (vector: number | undefined, isKept: boolean): void => {
    [pane.vector, pane.isKept] = [vector, isKept];
    stale();
  };
  pane.bars.addEventListener("pointerenter", () => {
    if (pane.basis && !(pane.basis instanceof Error)) return;
    pane.basis = "asked";
    const take = (basis: Float32Array | Error): void => {
      pane.basis = basis;
      stale();
    };
    api.basis(garment, pane.name).then(take, (error: unknown) => take(new Error(reason(error))));
  });
  pane.bars.addEventListener("pointermove", (event) => {
    if (!pane.isKept) look(pick(event), false);
  });
  pane.bars.addEventListener("pointerleave", () => {
    if (!pane.isKept) look(undefined, false);
  });
  pane.bars.addEventListener("click", (event) => {
    const vector = pick(event);
    const isSame = pane.isKept && pane.vector === vector;
    look(isSame ? undefined : vector, !isSame);
  });
}

/** What the vector that is looked at moves, as shares of what it moves most, and how far in
 * words. */
function vectorOf(
  pane: Pane,
  coefficients: Float32Array,
): { shares?: Float32Array; text: string } | undefined {
  const { vector, basis } = pane;
  const value = vector === undefined ? undefined : coefficients[vector];
  if (vector === undefined || value === undefined || !check("work").checked) return undefined;
  if (basis instanceof Error) return { text: basis.message };
  if (!(basis instanceof Float32Array)) return undefined;
  const n = pane.distances.length;
  const ways = basis.subarray(vector * n, (vector + 1) * n);
  const most = ways.reduce((a, b) => Math.max(a, b), 1e-9);
  const shares = ways.map((way) => way / most);
  const far = (100 * most * Math.abs(value)).toFixed(1);
  const text = `vector ${vector + 1} of ${coefficients.length}: moves up to ${far} cm`;
  return { shares, text };
}

/** Draws coefficients as bars, each as a share of the largest that has been seen; that of
 * the vector that is looked at in the colour of text. */
function drawBars(pane: Pane, values: Float32Array): void {
  const { bars: canvas, track } = pane;
  const context = canvas.getContext("2d");
  if (!context) return;
  const [width, height] = [BAR * values.length, 48];
  if (canvas.width !== width) [canvas.width, canvas.height] = [width, height];
  let most = 1e-9;
  for (const frame of track?.frames ?? []) {
    for (const value of frame?.coefficients ?? []) most = Math.max(most, Math.abs(value));
  }
  context.clearRect(0, 0, width, height);
  const plain = getComputedStyle(canvas).color;
  const marked = getComputedStyle(pane.label).color;
  values.forEach((value, i) => {
    const tall = (Math.sqrt(Math.abs(value) / most) * height) / 2;
    context.fillStyle = i === pane.vector ? marked : plain;
    context.fillRect(BAR * i, value > 0 ? height / 2 - tall : height / 2, BAR - 1, Math.max(tall, 0.5));
  });
  canvas.title = `${values.length} coefficients, roots of their shares; point at one to see what it moves`;
}

function draw(): void {
  const { clientWidth: width, clientHeight: height } = stage;
  const all = shown();
  for (const pane of panes) pane.label.hidden = crowd !== undefined || !all.includes(pane);
  // Its colours are centimetres, those of a vector shares.
  const isVector = check("work").checked && all.some((pane) => pane.vector !== undefined);
  element("legend").hidden = crowd !== undefined || isVector || !check("heat").checked;
  if (crowd) {
    eye.draw([{ scene: crowd.scene, box: { x: 0, y: 0, w: width, h: height } }]);
    return;
  }
  const boxes = layout(all.length, width, height);
  all.forEach((pane, i) => {
    const { x, y, w, h } = boxes[i]!;
    pane.label.style.cssText = `left:${x}px;top:${y}px;width:${w}px;height:${h}px`;
  });
  eye.draw(all.map((pane, i) => ({ scene: pane.figure.scene, box: boxes[i]! })));
}

/** Whether all that is shown has come. */
function isReady(next: number): boolean {
  const tracks = [ownTrack, ...(shape ? [bodyTrack] : []), ...shown().map((pane) => pane.track)];
  return tracks.every((track) => track?.has(next) ?? false);
}

let last = performance.now();
function tick(now: number): void {
  requestAnimationFrame(tick);
  const elapsed = Math.min((now - last) / 1000, 0.25);
  last = now;
  // One frame of a crowd is shown even where nothing plays.
  if (crowd && (isPlaying || !crowd.figures)) {
    const speed = Number(element<HTMLSelectElement>("speed").value);
    since = Math.min(since + elapsed * speed * catalog.frame_rate, 2);
    if (since >= 1) {
      since -= 1;
      advanceCrowd(now);
    }
  } else if (isPlaying && panes.length > 0) {
    const speed = Number(element<HTMLSelectElement>("speed").value);
    since += elapsed * speed * catalog.frame_rate;
    const n = currentClip().frames;
    while (since >= 1) {
      const next = (frame + 1) % n;
      if (!isReady(next)) {
        since = 0;
        break;
      }
      frame = next;
      since -= 1;
      isStale = true;
    }
  }
  if (isStale && !crowd) {
    isStale = false;
    placeFrame();
  }
  draw();
}

function setPlaying(to: boolean): void {
  isPlaying = to;
  play.textContent = to ? "❚❚" : "▶";
}

function goTo(to: number): void {
  const n = currentClip().frames;
  frame = ((to % n) + n) % n;
  since = 0;
  stale();
}

function toggle(id: string): void {
  const box = check(id);
  box.checked = !box.checked;
  box.dispatchEvent(new Event("change"));
}

function listen(): void {
  clipChoice.addEventListener("change", openClip);
  garmentChoice.addEventListener("change", () => void openGarment().catch(fail));
  play.addEventListener("click", () => setPlaying(!isPlaying));
  scrub.addEventListener("input", () => {
    setPlaying(false);
    goTo(Number(scrub.value));
  });
  for (const id of ["heat", "wire", "body", "follow", "heat-range", "work"]) {
    element(id).addEventListener("change", () => {
      legend();
      stale();
    });
  }
  check("over").addEventListener("change", () => {
    arrange();
    stale();
  });
  check("correct").addEventListener("change", () => reopen(SIMULATION, LIVE));
  check("deep").addEventListener("change", () => reopen());
  for (const id of ["fabric", "wind-speed", "wind-from"]) {
    element(id).addEventListener("change", reopenLive);
  }
  for (const id of ["wind-speed", "wind-from"]) element(id).addEventListener("input", air);
  for (const id of ["crowd", "crowd-method", "crowd-count"]) {
    element(id).addEventListener("change", () => {
      closeCrowd();
      say(check("crowd").checked ? "loading…" : "");
      if (check("crowd").checked) openCrowd();
      since = 0;
      stale();
    });
  }
  element("own-shape").addEventListener("click", () => {
    shape = undefined;
    sliders();
    reopen(SIMULATION);
  });
  element("theme").addEventListener("click", theme);
  window.addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || target.tagName === "SELECT") return;
    const keys: Record<string, () => void> = {
      " ": () => setPlaying(!isPlaying),
      ArrowLeft: () => (setPlaying(false), goTo(frame - 1)),
      ArrowRight: () => (setPlaying(false), goTo(frame + 1)),
      Home: () => goTo(0),
      h: () => toggle("heat"),
      w: () => toggle("wire"),
      b: () => toggle("body"),
      o: () => toggle("over"),
      f: () => toggle("follow"),
      c: () => toggle("correct"),
      k: () => toggle("deep"),
      x: () => toggle("work"),
      g: () => element("crowds").hidden || toggle("crowd"),
      l: theme,
      r: () => {
        eye.forget();
        isAimed = false;
        stale();
      },
    };
    const digit = Number(event.key);
    const box = element("panes").querySelectorAll<HTMLInputElement>("input")[digit - 1];
    const action = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (action) action();
    else if (digit >= 1 && box) box.click();
    else return;
    event.preventDefault();
  });
}

function theme(): void {
  const root = document.documentElement;
  const isDark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : window.matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
}

function legend(): void {
  const end = Number(element<HTMLSelectElement>("heat-range").value);
  element("bar-middle").textContent = `${end / 2}`;
  element("bar-end").textContent = `${end} cm`;
}

function options(select: HTMLSelectElement, all: { value: string; text: string }[]): void {
  select.replaceChildren(...all.map(({ value, text }) => new Option(text, value)));
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function fail(error: unknown): void {
  say(reason(error));
}

async function main(): Promise<void> {
  catalog = await api.catalog();
  document.title = `${catalog.title} · drapery`;
  element("title").textContent = catalog.title;
  options(
    clipChoice,
    catalog.clips.map((c) => ({ value: c.name, text: `${c.name} (${c.split})` })),
  );
  const isFirst = (split: string) => catalog.clips.find((c) => c.split === split);
  const first = isFirst("own") ?? isFirst("test");
  if (first) clipChoice.value = first.name;
  options(
    garmentChoice,
    catalog.garments.map((g) => ({ value: g.name, text: `${g.name}, ${g.triangles} triangles` })),
  );
  const ends = element<HTMLSelectElement>("heat-range");
  options(ends, ENDS.map((cm) => ({ value: String(cm), text: `${cm} cm` })));
  ends.value = "5";
  legend();
  air();
  drawBar(element<HTMLCanvasElement>("bar"));
  listen();
  setPlaying(true);
  await openGarment();
  requestAnimationFrame(tick);
}

main().catch(fail);
