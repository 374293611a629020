import { useNavigate } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { memo, useRef, useState } from 'react'
import { AppLink } from '../kit/app-link.js'
import { significantNumber } from '../kit/format.js'
import { useKeys } from '../kit/keys.js'
import { Name } from '../kit/marked.js'
import { useAddress, usePlace } from '../kit/place.js'
import {
  apiName,
  CHUNK,
  keyOfCompared,
  letterOf,
  useExamples,
  type ComparedScore,
  type Only,
  type Question,
  type ShownExample,
} from './comparison.js'
import { ComparedOutputs } from './compared-outputs.js'
import { ScoreHead } from './score-bar.js'
import { changeOf, percentText, scoreName } from './figures.js'

const ROW_PX = 32
/** The run, and its scores on two lines. */
const HEAD_PX = 64
/** More scores of a run do not fit into its cell. */
const MAX_SCORES = 4
const RUN_PX = 168
/** Of a score in the cell of a run: wider where there is room on a screen of 1,440 pixels. */
const SCORE_PX = { least: 80, most: 120, all: 880 }

interface Props {
  readonly question: Question
  readonly only: Only
  readonly scores: readonly ComparedScore[]
  readonly position: string
  readonly count: number
}

/** The examples of a comparison; only those in sight are mounted and asked for. */
export const ComparedRows = ({ question, only, scores, position, count }: Props) => {
  const { team, project } = usePlace()
  const [{ row: opened = '' }, setAddress] = useAddress()
  const navigate = useNavigate()
  const scroll = useRef<HTMLDivElement>(null)
  const [at, setAt] = useState(-1)
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW_PX,
    overscan: 8,
    scrollPaddingStart: HEAD_PX,
  })
  const items = virtual.getVirtualItems()
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0]
  const chunks = Array.from(
    { length: Math.floor(last / CHUNK) - Math.floor(first / CHUNK) + 1 },
    (_, n) => Math.floor(first / CHUNK) + n,
  )
  const exampleAt = useExamples(question, only, position, chunks)
  const hrefOf = (id: string) => `/${team}/${project}/calls/${encodeURIComponent(id)}`
  const toggle = (example: ShownExample | undefined) => {
    if (example !== undefined)
      setAddress({ row: opened === example.row_digest ? '' : example.row_digest }, true)
  }
  const move = (step: number) => {
    const next = Math.min(count - 1, Math.max(0, at + step))
    setAt(next)
    virtual.scrollToIndex(next)
  }
  const openRun = (run: number) => {
    const id = at < 0 ? undefined : exampleAt(at)?.runs[run]?.ids[0]
    if (id !== undefined) void navigate({ href: hrefOf(id) })
  }
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => toggle(exampleAt(at)),
    ...Object.fromEntries(question.runs.map((_, run) => [String(run + 1), () => openRun(run)])),
  })
  const shown = scores.slice(0, MAX_SCORES)
  const { least, most, all } = SCORE_PX
  const scoreWidth = Math.max(least, Math.min(most, all / (shown.length * question.runs.length)))
  const runWidth = Math.max(RUN_PX, scoreWidth * shown.length + 16)
  return (
    <div className="scroll" ref={scroll} tabIndex={-1}>
      <table
        className="table"
        style={{ minWidth: 240 + runWidth * question.runs.length }}
        aria-label="Compared rows"
        aria-rowcount={count}
      >
        <thead>
          <tr>
            <th scope="col" style={{ height: HEAD_PX }}>
              Example
            </th>
            {question.runs.map((id, run) => (
              <th key={id} scope="col" className="score" style={{ width: runWidth }}>
                {letterOf(run)}
                <span className="compared-cell secondary">
                  {shown.map((score) => (
                    <span key={keyOfCompared(score)} title={scoreName(score)}>
                      <ScoreHead of={score} />
                    </span>
                  ))}
                </span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody aria-hidden="true">
          <tr style={{ height: items[0]?.start ?? 0 }} />
        </tbody>
        {items.map(({ index }) => {
          const example = exampleAt(index)
          const isOpen = example !== undefined && example.row_digest === opened
          return (
            <tbody key={index} data-index={index} ref={virtual.measureElement}>
              <ExampleRow
                {...{ example, shown, isOpen }}
                runs={question.runs}
                lower={question.lower}
                isCurrent={index === at}
                index={index}
                place={`/${team}/${project}`}
                onToggle={() => {
                  setAt(index)
                  toggle(example)
                }}
              />
              {isOpen && (
                <tr>
                  <td colSpan={question.runs.length + 1} className="opened">
                    <div>
                      <ComparedOutputs example={example} />
                    </div>
                  </td>
                </tr>
              )}
            </tbody>
          )
        })}
        <tbody aria-hidden="true">
          <tr style={{ height: virtual.getTotalSize() - (items.at(-1)?.end ?? 0) }} />
        </tbody>
      </table>
    </div>
  )
}

interface RowProps {
  readonly example: ShownExample | undefined
  readonly shown: readonly ComparedScore[]
  readonly runs: readonly string[]
  readonly lower: readonly string[]
  readonly index: number
  readonly isOpen: boolean
  readonly isCurrent: boolean
  readonly place: string
  readonly onToggle: () => void
}

const ExampleRow = memo(
  ({ example, shown, runs, lower, index, isOpen, isCurrent, place, onToggle }: RowProps) => (
    <tr aria-rowindex={index + 1} data-selected={isCurrent || undefined}>
      <td title={example?.input}>
        {example === undefined ? (
          <span className="secondary">…</span>
        ) : (
          <button type="button" className="link" aria-expanded={isOpen} onClick={onToggle}>
            {isOpen ? '▾ ' : '▸ '}
            {example.trials > 1 && `${example.trials} × `}
            <Name text={example.input || 'no input'} />
          </button>
        )}
      </td>
      {runs.map((id, run) => {
        const cell = example?.runs[run]
        return (
          <td key={id}>
            {cell != null ? (
              <AppLink className="compared-cell" href={`${place}/calls/${encodeURIComponent(cell.ids[0]!)}`}>
                {shown.map((score, at) => (
                  <Value
                    key={keyOfCompared(score)}
                    kind={score.kind}
                    value={cell.values[at] ?? null}
                    tone={
                      run === 0
                        ? 'plain'
                        : changeOf(
                            cell.values[at] ?? null,
                            example?.runs[0]?.values[at] ?? null,
                            lower.includes(apiName(score)),
                          )
                    }
                  />
                ))}
              </AppLink>
            ) : (
              example !== undefined && <span className="secondary">no row</span>
            )}
          </td>
        )
      })}
    </tr>
  ),
  (before, after) =>
    before.example === after.example &&
    before.shown === after.shown &&
    before.isOpen === after.isOpen &&
    before.isCurrent === after.isCurrent,
)

const WORDS = { ok: 'better', danger: 'worse', plain: '' }

const Value = ({
  kind,
  value,
  tone,
}: {
  readonly kind: string
  readonly value: number | null
  readonly tone: 'ok' | 'danger' | 'plain'
}) => (
  <span data-tone={tone} title={value === null ? undefined : String(value)}>
    {tone === 'danger' ? '▼ ' : tone === 'ok' ? '▲ ' : ''}
    {valueText(kind, value)}
    {tone !== 'plain' && <span className="visually-hidden"> {WORDS[tone]}</span>}
  </span>
)

/** Booleans as words; of several trials, the share that passed. */
const valueText = (kind: string, value: number | null): string => {
  if (value === null) return 'no score'
  if (kind !== 'boolean') return significantNumber(value)
  return value === 1 ? 'passed' : value === 0 ? 'failed' : percentText(value)
}
