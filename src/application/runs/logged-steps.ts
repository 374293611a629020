/**
 * The logged steps of a run with the revisions of their events. Steps mostly ascend: those are stored in two arrays, 16
 * bytes per step, the others in a map.
 */
export class LoggedSteps {
  private readonly steps: number[] = []
  private readonly revisions: number[] = []
  private readonly others = new Map<number, number>()

  get size(): number {
    return this.steps.length + this.others.size
  }

  add(step: number, revision: number): void {
    const last = this.steps.at(-1)
    if (last === undefined || step > last) {
      this.steps.push(step)
      this.revisions.push(revision)
    } else if (this.revisionOf(step) === undefined) this.others.set(step, revision)
  }

  revisionOf(step: number): number | undefined {
    let [from, to] = [0, this.steps.length]
    while (from < to) {
      const middle = (from + to) >> 1
      if (this.steps[middle]! < step) from = middle + 1
      else to = middle
    }
    return this.steps[from] === step ? this.revisions[from] : this.others.get(step)
  }
}
