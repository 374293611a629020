import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { textOf, type Schemas } from '../kit/api.js'
import { Cost } from '../kit/cost.js'
import { duration, wholeNumber } from '../kit/format.js'
import { childrenOf, memberAt, spanText, stringOf, valueAt } from '../kit/json-scan.js'
import { JsonView } from '../kit/json-view.js'
import { LongText } from '../kit/long-text.js'
import { usePlace } from '../kit/place.js'
import { Failed, Loading } from '../kit/states.js'
import { ScoreCell } from './score-bar.js'

/** As many trials are shown whole. */
const MAX_TRIALS = 40

export interface WholeTrial {
  readonly head: Omit<Schemas['EvaluationTrialRow'], 'input' | 'expected' | 'output'>
  /** JSON text as it was recorded. */
  readonly input: string
  readonly expected: string
  readonly output: string
}

/** Payload stays text, so that its numbers keep their digits. */
const trialsIn = (text: string): readonly WholeTrial[] => {
  const data = memberAt(text, valueAt(text, 0), 'data')
  if (data === undefined) return []
  return childrenOf(text, data).map((trial) => {
    const members = childrenOf(text, trial)
    const textOfMember = (name: string) => {
      const member = members.find(({ key }) => key === name)
      return member === undefined ? 'null' : spanText(text, member)
    }
    const names = members.map(({ key }) => key!).filter((name) => !PAYLOAD.includes(name))
    const head = Object.fromEntries(names.map((name) => [name, JSON.parse(textOfMember(name)) as unknown]))
    return {
      head: head as WholeTrial['head'],
      input: textOfMember('input'),
      expected: textOfMember('expected'),
      output: textOfMember('output'),
    }
  })
}

const PAYLOAD = ['input', 'expected', 'output']

export const useTrials = (ids: readonly string[]) => {
  const { projectId } = usePlace()
  const found = useQuery({
    queryKey: ['evaluations', 'trials', projectId, ids.join()],
    queryFn: ({ signal }) =>
      textOf(
        '/api/pages/evaluation-trials',
        { project_id: projectId, ids: ids.slice(0, MAX_TRIALS), whole: true },
        signal,
      ),
  })
  const trials = useMemo(() => (found.data === undefined ? undefined : trialsIn(found.data)), [found.data])
  return { found, trials }
}

/** The trials of a row with their whole payloads. */
export const TrialPanel = ({
  ids,
  onClose,
}: {
  readonly ids: readonly string[]
  readonly onClose: () => void
}) => {
  const { found, trials } = useTrials(ids)
  return (
    <aside aria-label="The row">
      <div className="bar">
        <h3 className="section">{ids.length === 1 ? 'Row' : `Row, ${wholeNumber(ids.length)} trials`}</h3>
        <span className="spacer" />
        <Button size="compact-xs" variant="default" onClick={onClose}>
          Close
        </Button>
      </div>
      {found.isError && <Failed error={found.error} what="The row" onRetry={() => void found.refetch()} />}
      {found.isPending && <Loading what="the row" />}
      {trials?.[0] !== undefined && (
        <>
          <h3 className="section">Input</h3>
          <PayloadView text={trials[0].input} label="Input" />
          <h3 className="section">Expected</h3>
          <PayloadView text={trials[0].expected} label="Expected" />
        </>
      )}
      {trials?.map((trial, at) => (
        <Trial
          key={trial.head.id}
          trial={trial}
          name={trials.length === 1 ? 'Output' : `Output of trial ${at + 1}`}
        />
      ))}
      {ids.length > MAX_TRIALS && <div className="secondary">The first {MAX_TRIALS} trials are shown.</div>}
    </aside>
  )
}

const Trial = ({ trial: { head, output }, name }: { readonly trial: WholeTrial; readonly name: string }) => {
  const { team, project } = usePlace()
  return (
    <>
      <div className="bar">
        <h3 className="section">{name}</h3>
        <Link to="/$team/$project/calls/$call" params={{ team, project, call: head.id }}>
          Open its trace
        </Link>
      </div>
      {head.exception !== null && (
        <pre className="notice mono" data-tone="danger" style={{ margin: 0, whiteSpace: 'pre-wrap' }}>
          {head.exception}
        </pre>
      )}
      <PayloadView text={output} label="Output" />
      <dl className="facts">
        {Object.entries(head.scores).map(([scorer, score]) => {
          const call = head.score_call_ids[scorer]
          return (
            <div key={scorer} style={{ display: 'contents' }}>
              <dt>
                {call === undefined ? (
                  scorer
                ) : (
                  <Link to="/$team/$project/calls/$call" params={{ team, project, call }}>
                    {scorer}
                  </Link>
                )}
              </dt>
              <dd>
                {typeof score === 'object' && score !== null ? (
                  <JsonView text={JSON.stringify(score)} label={scorer} />
                ) : (
                  <ScoreCell value={score} isFinished={head.is_finished} />
                )}
              </dd>
            </div>
          )
        })}
        <dt>Latency</dt>
        <dd>{head.latency === null ? '—' : duration(Math.round(head.latency * 1e6))}</dd>
        <dt>Tokens</dt>
        <dd>{head.tokens === null ? '—' : wholeNumber(head.tokens)}</dd>
        <dt>Cost</dt>
        <dd>{head.cost === null ? 'unknown' : <Cost dollars={head.cost} />}</dd>
      </dl>
    </>
  )
}

/** Text as text, everything else as JSON. */
export const PayloadView = ({ text, label }: { readonly text: string; readonly label: string }) =>
  text === 'null' ? (
    <div className="secondary">None</div>
  ) : text.startsWith('"') ? (
    <div className="message" dir="auto">
      <div>
        <LongText text={stringOf(text)} />
      </div>
    </div>
  ) : (
    <JsonView text={text} label={label} />
  )
