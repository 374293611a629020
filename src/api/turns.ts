/** Runs a task when those before it that are about the same thing have ended. */
export type Turns = <A>(about: string, task: () => Promise<A>) => Promise<A>

/** Writers of one stream in one process would only get in each other's way; those of several do not wait. */
export const turns = (): Turns => {
  const last = new Map<string, Promise<unknown>>()
  return (about, task) => {
    const mine = (last.get(about) ?? Promise.resolve()).then(task, task)
    const leave = () => {
      if (last.get(about) === mine) last.delete(about)
    }
    last.set(about, mine)
    mine.then(leave, leave)
    return mine
  }
}
