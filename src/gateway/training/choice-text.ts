import { bytesOfTokens } from '../../engine/tokens.js'

/** The text of a choice as its tokens arrive. */
export interface ChoiceText {
  /** The text that is now sure to belong to the choice. */
  readonly add: (token: number) => string
  /** Whether a stop text was found. */
  readonly isStopped: () => boolean
  /** The text that was held back. */
  readonly end: () => string
}

/** Holds back bytes that are no whole character yet, and text that may be the beginning of a stop text. */
export const choiceText = (stops: readonly string[]): ChoiceText => {
  const decoder = new TextDecoder()
  let held = ''
  let stopped = false

  const released = (): string => {
    const places = stops.map((stop) => held.indexOf(stop)).filter((at) => at >= 0)
    if (places.length > 0) {
      stopped = true
      const text = held.slice(0, Math.min(...places))
      held = ''
      return text
    }
    const kept = Math.max(0, ...stops.map((stop) => overlap(held, stop)))
    const text = held.slice(0, held.length - kept)
    held = held.slice(held.length - kept)
    return text
  }
  return {
    add: (token) => {
      held += decoder.decode(bytesOfTokens([token]), { stream: true })
      return released()
    },
    isStopped: () => stopped,
    end: () => {
      if (stopped) return ''
      held += decoder.decode()
      const text = released()
      return text + held
    },
  }
}

/** How many characters at the end of a text are the beginning of another. */
const overlap = (text: string, beginning: string): number => {
  for (let length = Math.min(text.length, beginning.length - 1); length > 0; length -= 1)
    if (text.endsWith(beginning.slice(0, length))) return length
  return 0
}
