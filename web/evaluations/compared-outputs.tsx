import { Link } from '@tanstack/react-router'
import { Marked } from '../kit/marked.js'
import { usePlace } from '../kit/place.js'
import { Failed, Loading } from '../kit/states.js'
import { stringOf } from '../kit/json-scan.js'
import { letterOf, type ShownExample } from './comparison.js'
import { ScoreCell } from './score-bar.js'
import { PayloadView, useTrials, type WholeTrial } from './trial-panel.js'
import { wordDiff } from './word-diff.js'

/** As many trials of each run are shown. */
const MAX_TRIALS = 5

/** The input, the expected output and the output of each run, with its difference to that of the baseline. */
export const ComparedOutputs = ({ example }: { readonly example: ShownExample }) => {
  const ids = example.runs.map((cell) => cell?.ids.slice(0, MAX_TRIALS) ?? [])
  const { found, trials } = useTrials(ids.flat())
  if (found.isError) return <Failed error={found.error} what="The row" onRetry={() => void found.refetch()} />
  if (trials === undefined) return <Loading what="the row" />
  const byId = new Map(trials.map((trial) => [trial.head.id, trial]))
  const baseline = byId.get(ids[0]![0]!)
  return (
    <div className="compared-outputs">
      {baseline !== undefined && (
        <>
          <section aria-label="Input">
            <h3 className="section">Input</h3>
            <PayloadView text={baseline.input} label="Input" />
          </section>
          <section aria-label="Expected">
            <h3 className="section">Expected</h3>
            <PayloadView text={baseline.expected} label="Expected" />
          </section>
        </>
      )}
      {ids.map((ofRun, run) =>
        ofRun.map((id, at) => {
          const trial = byId.get(id)
          if (trial === undefined) return null
          const base = run === 0 ? undefined : byId.get(ids[0]![at] ?? ids[0]![0]!)
          const name = `${letterOf(run)}${ofRun.length > 1 ? `, trial ${at + 1}` : ''}`
          return <Output key={id} {...{ trial, base, name }} />
        }),
      )}
      {example.trials > MAX_TRIALS && (
        <div className="secondary">The first {MAX_TRIALS} trials of each run are shown.</div>
      )}
    </div>
  )
}

const Output = ({
  trial: { head, output },
  base,
  name,
}: {
  readonly trial: WholeTrial
  readonly base: WholeTrial | undefined
  readonly name: string
}) => {
  const { team, project } = usePlace()
  return (
    <section aria-label={`Output of ${name}`}>
      <div className="bar">
        <h3 className="section">{name}</h3>
        <Link to="/$team/$project/calls/$call" params={{ team, project, call: head.id }}>
          Open its trace
        </Link>
        {Object.entries(head.scores).map(([scorer, score]) => (
          <span key={scorer} className="secondary">
            {scorer} <ScoreCell value={score} isFinished={head.is_finished} />
          </span>
        ))}
      </div>
      {head.exception !== null && <div className="error-text">{head.exception}</div>}
      {base === undefined ? (
        <PayloadView text={output} label="Output" />
      ) : (
        <OutputDiff {...{ output, base }} />
      )}
    </section>
  )
}

/** Strings are compared as text, everything else as JSON. */
const plain = (json: string): string => (json.startsWith('"') ? stringOf(json) : json)

const OutputDiff = ({ output, base }: { readonly output: string; readonly base: WholeTrial }) => {
  if (output === base.output) return <div className="secondary">The same as A</div>
  const parts = wordDiff(plain(base.output), plain(output))
  if (parts === undefined) return <PayloadView text={output} label="Output" />
  return (
    <div className="message" dir="auto">
      <div>
        {parts.map(({ kind, text }, at) =>
          kind === 'same' ? (
            <Marked key={at} text={text} isProse />
          ) : kind === 'added' ? (
            <ins key={at}>
              <Marked text={text} isProse />
            </ins>
          ) : (
            <del key={at}>
              <Marked text={text} isProse />
            </del>
          ),
        )}
      </div>
    </div>
  )
}
