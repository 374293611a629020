import type { Position } from './ports/event-store.js'

/** The later of two positions; undefined for a write that appended nothing. */
export const later = (a: Position | undefined, b: Position | undefined): Position | undefined =>
  a === undefined || (b !== undefined && b > a) ? b : a
