import { Checkbox } from '@mantine/core'
import { wholeNumber } from '../kit/format.js'
import { Whisker } from '../kit/whisker.js'
import { apiName, keyOfCompared, letterOf, type ComparedScore, type Comparison } from './comparison.js'
import { differenceText, figureText, scoreName } from './figures.js'

interface Props {
  readonly runs: Comparison['evaluation_runs']
  readonly scores: readonly ComparedScore[]
  readonly lower: readonly string[]
  readonly onLower: (names: readonly string[]) => void
}

/** Each score of each run: its mean, and the difference to the baseline with its 95 % interval. */
export const ComparedScores = ({ runs, scores, lower, onLower }: Props) => {
  if (scores.length === 0) return <div className="notice">The runs have no scores to compare.</div>
  return (
    <div className="scroll">
      <table className="table" style={{ minWidth: 900 }} aria-label="Compared scores">
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col" className="number" style={{ width: 110 }}>
              Mean
            </th>
            <th scope="col" className="number" style={{ width: 120 }}>
              Difference
            </th>
            <th scope="col" style={{ width: 240 }}>
              95 % interval
            </th>
            <th scope="col" className="number" style={{ width: 80 }}>
              Wins
            </th>
            <th scope="col" className="number" style={{ width: 80 }}>
              Losses
            </th>
            <th scope="col" className="number" style={{ width: 80 }}>
              Ties
            </th>
          </tr>
        </thead>
        {scores.map((score) => {
          const name = apiName(score)
          return (
            <tbody key={keyOfCompared(score)}>
              <tr className="group">
                <th colSpan={7} scope="rowgroup">
                  <span className="bar">
                    {scoreName(score)}
                    <Checkbox
                      size="xs"
                      label="lower is better"
                      aria-label={`A lower ${scoreName(score)} is better`}
                      checked={lower.includes(name)}
                      onChange={(event) =>
                        onLower(
                          event.currentTarget.checked
                            ? [...lower, name].sort()
                            : lower.filter((one) => one !== name),
                        )
                      }
                    />
                  </span>
                </th>
              </tr>
              {runs.map(({ evaluation_run_id }, run) => (
                <ScoreRow key={evaluation_run_id} {...{ score, run }} isLower={lower.includes(name)} />
              ))}
            </tbody>
          )
        })}
      </table>
    </div>
  )
}

const ScoreRow = ({
  score,
  run,
  isLower,
}: {
  readonly score: ComparedScore
  readonly run: number
  readonly isLower: boolean
}) => {
  const { kind, means, differences } = score
  const mean = means[run] ?? null
  const of = run === 0 ? undefined : differences[run - 1]
  const difference = of?.difference ?? null
  return (
    <tr>
      <td>
        <strong>{letterOf(run)}</strong> {run === 0 && <span className="secondary">baseline</span>}
      </td>
      <td className="number" title={mean === null ? '' : String(mean)}>
        {mean === null ? '—' : figureText(kind, mean)}
      </td>
      <td className="number" title={difference === null ? '' : String(difference)}>
        {difference === null ? '—' : differenceText(kind, difference)}
      </td>
      <td>{of !== undefined && <Interval {...{ score, isLower }} difference={of} />}</td>
      {(['wins', 'losses', 'ties'] as const).map((name) => (
        <td key={name} className="number">
          {of === undefined ? '' : wholeNumber(of[name])}
        </td>
      ))}
    </tr>
  )
}

const Interval = ({
  score: { kind, differences },
  difference: { difference = null, interval = null },
  isLower,
}: {
  readonly score: ComparedScore
  readonly difference: ComparedScore['differences'][number]
  readonly isLower: boolean
}) => {
  if (difference === null || interval === null) return <span className="secondary">too few pairs</span>
  const [low, high] = interval as [number, number]
  const ends = differences.flatMap(({ interval }) => interval ?? [])
  const most = Math.max(0, ...ends)
  const least = Math.min(0, ...ends)
  const text = `${differenceText(kind, difference)}, between ${differenceText(kind, low)} and ${differenceText(kind, high)}`
  return (
    <Whisker
      mean={difference}
      low={low}
      high={high}
      scale={[least, most]}
      text={text}
      isLowerBetter={isLower}
    />
  )
}
