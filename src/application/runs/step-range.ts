import type { HistoryChunk, PlacedLine } from './history-parts.js'

/**
 * The steps from `minStep` to before `maxStep`, for which null is no limit. A row without a step of its own belongs to the
 * highest step before it.
 */
export interface StepRange {
  readonly minStep: number | null
  readonly maxStep: number | null
}

export const mayHave = ({ minStep, maxStep }: StepRange, chunk: HistoryChunk): boolean =>
  (minStep === null || chunk.maxStep >= minStep) && (maxStep === null || chunk.minStep < maxStep)

export const isWhole = ({ minStep, maxStep }: StepRange, chunk: HistoryChunk): boolean =>
  (minStep === null || chunk.minStep >= minStep) && (maxStep === null || chunk.maxStep < maxStep)

export const isWithin = ({ minStep, maxStep }: StepRange, { step }: Pick<PlacedLine, 'step'>): boolean =>
  (minStep === null || step >= minStep) && (maxStep === null || step < maxStep)
