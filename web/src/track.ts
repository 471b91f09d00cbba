// All frames of one thing that moves, as far as they have come.

import { type Frame, frames } from "./api";

export class Track {
  /** By number; a hole where a frame has not come yet. */
  readonly frames: (Frame | undefined)[] = [];
  failure: string | undefined;
  private readonly abort = new AbortController();

  /** Loads from frame `first` on, then what is before it. */
  constructor(
    query: Record<string, string>,
    readonly length: number,
    first: number,
    private readonly changed: () => void,
  ) {
    this.frames.length = length;
    void this.load(query, first);
  }

  /** The frame, or the nearest before it that is there. */
  at(frame: number): Frame | undefined {
    for (let i = Math.min(frame, this.length - 1); i >= 0; i--) {
      const found = this.frames[i];
      if (found) return found;
    }
    return undefined;
  }

  has(frame: number): boolean {
    return this.failure !== undefined || this.frames[frame] !== undefined;
  }

  /** Nothing more is wanted of it. */
  close(): void {
    this.abort.abort();
  }

  private async load(query: Record<string, string>, first: number): Promise<void> {
    const keep = (frame: Frame) => {
      this.frames[frame.frame] ??= frame;
      this.changed();
    };
    try {
      await frames({ ...query, from: String(first) }, this.abort.signal, keep);
      if (first > 0) await frames({ ...query, from: "0" }, this.abort.signal, keep);
    } catch (error) {
      if (this.abort.signal.aborted) return;
      this.failure = error instanceof Error ? error.message : String(error);
      this.changed();
    }
  }
}
