import { deferred, type Deferred } from './deferred.js'

/** Lets somebody stop a loop between two rounds, for as long as they need. */
export const standstill = () => {
  let asked: { readonly reached: Deferred; readonly released: Deferred } | undefined
  return {
    /** Resolves when the loop stands; it goes on when the answer is called. */
    ask: async (): Promise<() => void> => {
      const mine = { reached: deferred(), released: deferred() }
      asked = mine
      await mine.reached.promise
      return () => {
        asked = undefined
        mine.released.resolve()
      }
    },
    /** For the loop: whether somebody wants it to stand, and then until when. */
    isAsked: (): boolean => asked !== undefined,
    stand: async (): Promise<void> => {
      asked?.reached.resolve()
      await asked?.released.promise
    },
    /** Nobody is waited for any more. */
    end: (): void => {
      asked?.reached.resolve()
      asked?.released.resolve()
    },
  }
}
