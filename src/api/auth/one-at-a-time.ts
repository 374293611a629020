import { turns } from '../../domain/turns.js'

/** Runs tasks one after another, in the order they came, as turns about one thing. */
export const oneAtATime = () => {
  const { inTurn } = turns()
  return <A>(task: () => Promise<A>): Promise<A> => inTurn('', task)
}
