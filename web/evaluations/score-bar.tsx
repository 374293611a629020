import { Status } from '../kit/status.js'
import { significantNumber } from '../kit/format.js'
import { figureText } from './figures.js'

/** A figure over a bar that shows it as a part of the largest one. */
export const ScoreBar = ({
  kind,
  value,
  most,
}: {
  readonly kind: string
  readonly value: number
  /** The figure of a whole bar. */
  readonly most: number
}) => {
  const part = most > 0 ? Math.min(1, Math.max(0, value / most)) : 0
  return (
    <span className="score-bar" title={String(value)}>
      <i style={{ width: `${100 * part}%` }} />
      <span>{figureText(kind, value)}</span>
    </span>
  )
}

/** One score of one row, as a word and a colour or as a figure. */
export const ScoreCell = ({
  value,
  isFinished = true,
}: {
  readonly value: unknown
  readonly isFinished?: boolean
}) => {
  if (value === true) return <Status tone="ok">passed</Status>
  if (value === false) return <Status tone="danger">failed</Status>
  if (value === null || value === undefined)
    return <span className="secondary">{isFinished ? 'no score' : 'not yet'}</span>
  if (typeof value === 'number') return <span title={String(value)}>{significantNumber(value)}</span>
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return <span title={text.slice(0, 2000)}>{text.slice(0, 200)}</span>
}
