/**
 * The steps that a run has logged, each with the revision of its event. Steps mostly rise: those lie in two plain lists,
 * 16 bytes a step, and the others in a map beside them.
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
