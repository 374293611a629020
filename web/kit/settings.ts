import { useSyncExternalStore } from 'react'

const PREFIX = 'tallytree.'
const listeners = new Set<() => void>()

const read = (name: string): string | null => {
  try {
    return localStorage.getItem(PREFIX + name)
  } catch {
    return null
  }
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** A setting of this browser. */
export const useSetting = (name: string, fallback: string): [string, (value: string) => void] => {
  const value = useSyncExternalStore(subscribe, () => read(name)) ?? fallback
  const set = (next: string) => {
    try {
      localStorage.setItem(PREFIX + name, next)
    } catch {
      // Without storage the setting lasts as long as the page.
    }
    for (const listener of listeners) listener()
  }
  return [value, set]
}

const LOCAL = Intl.DateTimeFormat().resolvedOptions().timeZone

/** The zone of all times on the pages. */
export const useZone = (): string => {
  const [zone] = useSetting('zone', '')
  return zone === '' ? LOCAL : zone
}
