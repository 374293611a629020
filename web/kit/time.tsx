import { useSyncExternalStore } from 'react'
import { clockTime, shownTime } from './format.js'
import { useZone } from './settings.js'

const TICK_MS = 10_000
const listeners = new Set<() => void>()
let timer: number | undefined

/** One timer for all times of the page. */
const everyTick = (listener: () => void) => {
  listeners.add(listener)
  timer ??= window.setInterval(() => {
    for (const each of listeners) each()
  }, TICK_MS)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    window.clearInterval(timer)
    timer = undefined
  }
}

/** A text that depends on the present time; it is read again every ten seconds. */
const useTextNow = (text: () => string): string => useSyncExternalStore(everyTick, text)

/** A moment: relative within a day, exact in two zones on hover. */
export const Time = ({ at }: { readonly at: string | number | null }) =>
  at === null ? (
    <span className="secondary">—</span>
  ) : (
    <Moment at={typeof at === 'number' ? at : Date.parse(at)} />
  )

const Moment = ({ at }: { readonly at: number }) => {
  const zone = useZone()
  const iso = new Date(at).toISOString()
  const shown = useTextNow(() => shownTime(at, zone))
  return (
    <time dateTime={iso} title={`${clockTime(at, zone)} ${zone}\n${iso}`}>
      {shown}
    </time>
  )
}
