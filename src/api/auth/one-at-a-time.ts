/** Runs tasks one after another, in the order they came; a failed one does not stop the next. */
export const oneAtATime = () => {
  let last: Promise<unknown> = Promise.resolve()
  return <A>(task: () => Promise<A>): Promise<A> => {
    const mine = last.then(task, task)
    last = mine
    return mine
  }
}
