import { instantOf, type Instant } from '../../../kernel/codec/instant.js'

/** Milliseconds since 1970. */
export const millisOf = (instant: Instant): number => Date.parse(instant)

export const instantAt = (millis: number): Instant => instantOf(new Date(millis))
