/**
 * Indices of metadata entries above the commit index: they do not count as commits that are worth
 * recording (spec: consensus 3.10 step 5).
 */
export class MetadataEntries {
  private readonly indices: number[] = [];

  add(index: number): void {
    this.indices.push(index);
  }

  truncate(from: number): void {
    while (this.indices.length > 0 && (this.indices.at(-1) as number) >= from) this.indices.pop();
  }

  /**
   * Greatest index in (from, to] that is no metadata entry, -1 if there is none; forgets what is up
   * to `to`.
   */
  takeLastOther(from: number, to: number): number {
    let known = 0;
    while (known < this.indices.length && (this.indices[known] as number) <= to) known++;
    let last = to;
    for (let i = known - 1; i >= 0 && this.indices[i] === last; i--) last--;
    if (known > 0) this.indices.splice(0, known);
    return last > from ? last : -1;
  }
}
