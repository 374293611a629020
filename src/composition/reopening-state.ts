import type { DispatcherState } from '../domain/ports/dispatcher-state.js'
import { isSpoilt } from './put-aside.js'

type Work = (...given: readonly unknown[]) => unknown

/**
 * A state whose file turns out to be spoilt while it is in use is opened anew, by `open`, when it is rolled back, which
 * whoever folds into it does after every failure.
 */
export const reopeningState = (open: () => DispatcherState): DispatcherState => {
  let current = open()
  let wasSpoilt = false

  const noting = (name: string): Work => {
    return (...given) => {
      try {
        return (current[name as keyof DispatcherState] as Work)(...given)
      } catch (error) {
        wasSpoilt ||= isSpoilt(error)
        throw error
      }
    }
  }
  const works = Object.fromEntries(Object.keys(current).map((name) => [name, noting(name)]))
  const state = works as unknown as DispatcherState

  const closeIt = () => {
    try {
      current.close()
    } catch {
      // What is spoilt may not be closed in order; it is closed all the same.
    }
  }
  const { rollBack } = state
  return {
    ...state,
    rollBack: () => {
      try {
        if (!wasSpoilt) return rollBack()
      } catch (error) {
        if (!isSpoilt(error)) throw error
      }
      closeIt()
      current = open()
      wasSpoilt = false
    },
  }
}
