// A clip in a report, which can be turned and played: everything is in the page.
//
// The bytes are described in crates/view/src/page/playable.rs.

import { Eye, layout } from "./eye";
import { BodySurface, Figure, TINTS } from "./figure";
import { distances, drawBar } from "./heat";

interface Head {
  frame_rate: number;
  frames: number;
  /** Vertices and triangles. */
  body: [number, number];
  garment: [number, number];
  panes: string[];
  /** Metres in a step of the positions. */
  step: number;
  /** The end of the bar [m]. */
  range: number;
}

class Player {
  private readonly eye: Eye;
  private readonly stage: HTMLElement;
  private readonly body: BodySurface;
  private readonly figures: Figure[];
  private readonly labels: HTMLElement[];
  private readonly scrub: HTMLInputElement;
  private readonly heat: HTMLInputElement;
  private readonly play: HTMLButtonElement;
  private readonly origins: Float32Array;
  private readonly values: Int16Array;
  private readonly skin: Float32Array;
  private readonly cloths: Float32Array[];
  private readonly off: Float32Array;
  private frame = 0;
  private since = 0;
  private isPlaying = false;
  private isStale = true;
  private last = performance.now();

  constructor(
    private readonly host: HTMLElement,
    private readonly head: Head,
    bytes: ArrayBuffer,
  ) {
    const [nBody, tBody] = head.body;
    const [nCloth, tCloth] = head.garment;
    let at = 0;
    const take = (n: number) => (at += n) - n;
    const mesh = (vertices: number, n: number) => ({
      vertices,
      triangles: new Uint32Array(bytes, take(12 * n), 3 * n),
    });
    const skin = mesh(nBody, tBody);
    const cloth = mesh(nCloth, tCloth);
    const marks = new Uint8Array(bytes, take(4 * Math.ceil(tBody / 4)), tBody);
    this.origins = new Float32Array(bytes, take(12 * head.frames), 3 * head.frames);
    this.values = new Int16Array(bytes, at);
    this.skin = new Float32Array(3 * nBody);
    this.off = new Float32Array(nCloth);
    this.cloths = head.panes.map(() => new Float32Array(3 * nCloth));
    this.body = new BodySurface({ ...skin, marks });
    const none = new Uint8Array(tCloth);
    this.figures = head.panes.map(
      (_, i) => new Figure(this.body, { ...cloth, marks: none }, TINTS[i % TINTS.length]!),
    );

    this.stage = element("div", "clip-stage", host);
    const canvas = element("canvas", "", this.stage);
    this.labels = head.panes.map((name) => {
      const label = element("div", "clip-pane", this.stage);
      label.textContent = name;
      return label;
    });
    const row = element("div", "clip-row", host);
    this.play = element("button", "", row);
    this.play.setAttribute("aria-label", "Play or pause");
    this.scrub = element("input", "", row);
    Object.assign(this.scrub, { type: "range", min: "0", max: String(head.frames - 1), value: "0" });
    this.scrub.setAttribute("aria-label", "Frame");
    const label = element("label", "", row);
    this.heat = element("input", "", label);
    this.heat.type = "checkbox";
    label.append(" distance from the simulation");
    const bar = element("canvas", "clip-bar", row);
    [bar.width, bar.height] = [96, 1];
    drawBar(bar);
    const end = element("span", "", row);
    end.textContent = `0 to ${(100 * head.range).toFixed(1)} cm`;
    this.eye = new Eye(canvas, this.stage);

    this.play.addEventListener("click", () => this.setPlaying(!this.isPlaying));
    this.scrub.addEventListener("input", () => {
      this.setPlaying(false);
      this.frame = Number(this.scrub.value);
      this.isStale = true;
    });
    this.heat.addEventListener("change", () => (this.isStale = true));
    this.setPlaying(false);
    requestAnimationFrame((now) => this.tick(now));
  }

  private setPlaying(to: boolean): void {
    this.isPlaying = to;
    this.play.textContent = to ? "❚❚" : "▶";
  }

  private tick(now: number): void {
    requestAnimationFrame((next) => this.tick(next));
    const elapsed = Math.min((now - this.last) / 1000, 0.25);
    this.last = now;
    const { top, bottom } = this.stage.getBoundingClientRect();
    if (bottom < 0 || top > window.innerHeight) return;
    if (this.isPlaying) {
      this.since += elapsed * this.head.frame_rate;
      while (this.since >= 1) {
        this.since -= 1;
        this.frame = (this.frame + 1) % this.head.frames;
        this.isStale = true;
      }
    }
    if (this.isStale) this.place();
    const boxes = layout(this.figures.length, this.stage.clientWidth, this.stage.clientHeight);
    this.labels.forEach((label, i) => {
      const { x, y, w, h } = boxes[i]!;
      label.style.cssText = `left:${x}px;top:${y}px;width:${w}px;height:${h}px`;
    });
    this.eye.draw(this.figures.map((figure, i) => ({ scene: figure.scene, box: boxes[i]! })));
  }

  private place(): void {
    this.isStale = false;
    const { head, frame } = this;
    const length = this.skin.length + this.cloths.length * 3 * head.garment[0];
    let at = frame * length;
    const read = (out: Float32Array) => {
      for (let k = 0; k < out.length; k++) {
        out[k] = this.origins[3 * frame + (k % 3)]! + head.step * this.values[at + k]!;
      }
      at += out.length;
    };
    read(this.skin);
    this.cloths.forEach(read);
    this.body.place(this.skin);
    this.eye.follow(this.skin, true);
    this.figures.forEach((figure, i) => {
      const cloth = this.cloths[i]!;
      figure.place(cloth);
      figure.show({ body: true, wire: false, cloth: true });
      const label = this.labels[i]!;
      label.textContent = head.panes[i]!;
      if (i === 0) return;
      const mean = distances(cloth, this.cloths[0]!, this.off);
      label.textContent += `\n${(100 * mean).toFixed(2)} cm`;
      if (this.heat.checked) figure.paintDistances(this.off, head.range);
      else figure.paintPlain();
    });
    this.scrub.value = String(frame);
    this.host.dataset.frame = String(frame);
  }
}

function element<K extends keyof HTMLElementTagNameMap>(
  kind: K,
  name: string,
  parent: HTMLElement,
): HTMLElementTagNameMap[K] {
  const made = document.createElement(kind);
  made.className = name;
  parent.append(made);
  return made;
}

for (const host of document.querySelectorAll<HTMLElement>(".clip")) {
  const [head, bytes] = [...host.querySelectorAll("script")].map((own) => own.textContent ?? "");
  const values = Uint8Array.from(atob(bytes ?? ""), (c) => c.charCodeAt(0));
  new Player(host, JSON.parse(head ?? "{}") as Head, values.buffer);
}
