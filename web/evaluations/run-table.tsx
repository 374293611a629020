import { Checkbox } from '@mantine/core'
import { AppLink } from '../kit/app-link.js'
import { Cost } from '../kit/cost.js'
import { duration, plural, wholeNumber } from '../kit/format.js'
import { Name } from '../kit/marked.js'
import { Time } from '../kit/time.js'
import { keyOfScore, runName, scoreName, type Run, type ShownMean } from './figures.js'
import { RunStatus } from './run-state.js'
import { ScoreBar, ScoreHead } from './score-bar.js'

const FIXED_PX = 36 + 180 + 110 + 100 + 64 + 84 + 84 + 100 + 132
const SCORE_PX = 104

interface Props {
  readonly groups: readonly (readonly Run[])[]
  readonly means: readonly ShownMean[]
  readonly chosen: readonly string[]
  readonly current: string | undefined
  readonly onToggle: (id: string) => void
  readonly hrefOf: (id: string) => string
}

/** Runs by evaluation, with a bar for each of their means. */
export const RunTable = ({ groups, means, chosen, current, onToggle, hrefOf }: Props) => {
  const largest = largestOf(groups.flat())
  return (
    <div className="scroll">
      <table
        className="table"
        style={{ minWidth: FIXED_PX + SCORE_PX * means.length }}
        aria-label="Evaluation runs"
      >
        <thead>
          <tr>
            <th scope="col" style={{ width: 36 }}>
              <span className="visually-hidden">Select</span>
            </th>
            <th scope="col">Run</th>
            <th scope="col" style={{ width: 110 }}>
              Model
            </th>
            <th scope="col" style={{ width: 100 }}>
              Dataset
            </th>
            <th scope="col" className="number" style={{ width: 64 }}>
              Rows
            </th>
            {means.map((mean) => (
              <th
                key={keyOfScore(mean, mean.kind)}
                scope="col"
                className="number score"
                style={{ width: SCORE_PX }}
                title={scoreName(mean)}
              >
                <ScoreHead of={mean} />
              </th>
            ))}
            <th scope="col" className="number" style={{ width: 84 }}>
              Cost
            </th>
            <th scope="col" className="number" style={{ width: 84 }}>
              Latency
            </th>
            <th scope="col" style={{ width: 116 }}>
              Status
            </th>
            <th scope="col" style={{ width: 132 }}>
              Started
            </th>
          </tr>
        </thead>
        {groups.map((runs, at) => (
          <tbody key={at}>
            <tr className="group">
              <th colSpan={9 + means.length} scope="rowgroup" title={runs[0]!.evaluation}>
                <Name text={runs[0]!.evaluation_name || 'No evaluation'} />{' '}
                <span className="secondary">{plural(runs.length, 'run')}</span>
              </th>
            </tr>
            {runs.map((run, place) => (
              <RunRow
                key={place}
                {...{ run, means, largest }}
                isChosen={chosen.includes(run.id)}
                isCurrent={run.id === current}
                onToggle={() => onToggle(run.id)}
                href={hrefOf(run.id)}
              />
            ))}
          </tbody>
        ))}
      </table>
    </div>
  )
}

/** The figure of a whole bar of each score: 1 for fractions, else the largest of all runs. */
const largestOf = (runs: readonly Run[]): ReadonlyMap<string, number> => {
  const largest = new Map<string, number>()
  for (const { means } of runs)
    for (const mean of means) {
      const key = keyOfScore(mean, mean.kind)
      largest.set(key, mean.kind === 'boolean' ? 1 : Math.max(largest.get(key) ?? 0, mean.value))
    }
  return largest
}

interface RowProps {
  readonly run: Run
  readonly means: readonly ShownMean[]
  readonly largest: ReadonlyMap<string, number>
  readonly isChosen: boolean
  readonly isCurrent: boolean
  readonly onToggle: () => void
  readonly href: string
}

const RunRow = ({ run, means, largest, isChosen, isCurrent, onToggle, href }: RowProps) => {
  const name = runName(run)
  const values = new Map(run.means.map((mean) => [keyOfScore(mean, mean.kind), mean.value]))
  return (
    <tr id={`run-${run.id}`} data-selected={isCurrent || undefined}>
      <td>
        <Checkbox size="xs" aria-label={`Select ${name}`} checked={isChosen} onChange={onToggle} />
      </td>
      <td>
        <AppLink className="strong" href={href} title={name}>
          <Name text={name} />
        </AppLink>
      </td>
      <td title={run.model}>{run.model_name === '' ? '—' : <Name text={run.model_name} />}</td>
      <td title={run.dataset ?? ''}>{run.dataset_name === null ? '—' : <Name text={run.dataset_name} />}</td>
      <td className="number">{wholeNumber(run.rows)}</td>
      {means.map((mean) => {
        const key = keyOfScore(mean, mean.kind)
        const value = values.get(key)
        return (
          <td key={key} className="number">
            {value === undefined ? (
              <span className="secondary">—</span>
            ) : (
              <ScoreBar kind={mean.kind} value={value} most={largest.get(key)!} />
            )}
          </td>
        )
      })}
      <td className="number">
        <RunCost run={run} />
      </td>
      <td className="number">{run.latency === null ? '—' : duration(Math.round(run.latency * 1e6))}</td>
      <td>
        <RunStatus status={run.status} />
      </td>
      <td>
        <Time at={run.started_us / 1000} />
      </td>
    </tr>
  )
}

/** Nothing was used, no price is known, and a sum that is not known are different things. */
export const RunCost = ({
  run: { cost, tokens, unpriced },
}: {
  readonly run: Pick<Run, 'cost' | 'tokens' | 'unpriced'>
}) =>
  cost === null ? (
    <span title="The run has too many calls to add up.">unknown</span>
  ) : cost === 0 && tokens === 0 ? (
    <span title="No usage was reported.">—</span>
  ) : (
    <Cost dollars={cost} unpriced={unpriced} />
  )
