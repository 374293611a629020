import type { DispatcherState } from '../domain/webhooks/deliveries/dispatcher-state.js'
import { isCorruption } from './open-or-recreate.js'

type Method = (...args: readonly unknown[]) => unknown

/**
 * A state that survives a corrupt file. The dispatcher rolls back after every failure: if SQLite reported corruption
 * since the last roll back, this opens the state again, and the dispatcher folds the log from the new checkpoint.
 */
export const recreatingState = (open: () => DispatcherState): DispatcherState => {
  let current = open()
  let isCorrupt = false

  const delegate = (name: string): Method => {
    return (...args) => {
      try {
        return (current[name as keyof DispatcherState] as Method)(...args)
      } catch (error) {
        isCorrupt ||= isCorruption(error)
        throw error
      }
    }
  }
  const state = Object.fromEntries(
    Object.keys(current).map((name) => [name, delegate(name)]),
  ) as unknown as DispatcherState

  const reopen = () => {
    try {
      current.close()
    } catch {
      // Closing a corrupt file may fail too.
    }
    current = open()
    isCorrupt = false
  }
  return {
    ...state,
    rollBack: () => {
      if (isCorrupt) return reopen()
      try {
        current.rollBack()
      } catch (error) {
        if (!isCorruption(error)) throw error
        reopen()
      }
    },
  }
}
