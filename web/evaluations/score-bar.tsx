import { Fragment } from 'react'
import { Status } from '../kit/status.js'
import { significantNumber } from '../kit/format.js'
import { figureText, scoreName, type ScoreField } from './figures.js'

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

const MAX_HEAD = 48

/** On several lines where it is long, which break between words. */
export const ScoreHead = ({ of }: { readonly of: ScoreField }) => {
  const name = scoreName(of)
  const shown = name.length > MAX_HEAD ? `${name.slice(0, MAX_HEAD)}…` : name
  return shown.split(/(?<=[._])|(?<=[a-z])(?=[A-Z])/).map((part, at) => (
    <Fragment key={at}>
      {part}
      <wbr />
    </Fragment>
  ))
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
