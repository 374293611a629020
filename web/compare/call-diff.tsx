import { Button, Switch } from '@mantine/core'
import { useQueries, useQuery } from '@tanstack/react-query'
import { useMemo, type ReactNode } from 'react'
import { api, ApiError, dataOf, type Schemas } from '../kit/api.js'
import { AppLink } from '../kit/app-link.js'
import { Cost } from '../kit/cost.js'
import { cost, duration, opName, wholeNumber } from '../kit/format.js'
import { stringOf } from '../kit/json-scan.js'
import { Name } from '../kit/marked.js'
import { useAddress, usePlace } from '../kit/place.js'
import { Failed, Loading } from '../kit/states.js'
import { CallStatus } from '../kit/status.js'
import { Time } from '../kit/time.js'
import { payloadOf } from '../traces/call-detail.js'
import { messagesIn, messagesOut, shownInputs } from '../traces/conversation.js'
import { otherInputs } from '../traces/other-inputs.js'
import { partsOfCall } from '../traces/payload.js'
import { DiffRow, JsonRows, Messages, Section, Words } from './diff-rows.js'

type Row = Schemas['CallRow']

interface Props {
  readonly leftId: string
  readonly rightId: string
  readonly onSwap: () => void
  /** Buttons. */
  readonly children?: ReactNode
}

/** Two calls side by side: figures, messages, values by path. What is shown of equal fields is in the address. */
export const CallDiff = ({ leftId, rightId, onSwap, children }: Props) => {
  const { projectId } = usePlace()
  const [{ all = '' }, setAddress] = useAddress()
  const ids = [leftId, rightId]
  const figures = useQuery({
    queryKey: ['compared', projectId, ...ids],
    queryFn: async ({ signal }) => {
      const body = { project_id: projectId, filter: { call_ids: ids } }
      const { rows } = await dataOf(api.POST('/api/pages/calls', { body, signal }))
      return ids.map((id) => {
        const found = rows.find((row) => row.id === id)
        if (found === undefined) throw new ApiError(404, 'Call not found.', '', undefined)
        return found
      })
    },
  })
  const payloads = useQueries({ queries: ids.map((id) => payloadOf(projectId, id)) })
  const failed = [figures, ...payloads].find(({ error }) => error !== null)
  const [left, right] = figures.data ?? []
  const [leftText, rightText] = payloads.map(({ data }) => data)
  return (
    <div className="diff" data-only={all === '' || undefined}>
      <div className="bar">
        <Button size="compact-sm" variant="default" onClick={onSwap}>
          Swap
        </Button>
        <Switch
          size="xs"
          label="Only differences"
          checked={all === ''}
          onChange={(event) => setAddress({ all: event.currentTarget.checked ? '' : '1' }, true)}
        />
        {children}
      </div>
      {failed !== undefined && (
        <Failed error={failed.error!} what="One of the calls" onRetry={() => void failed.refetch()} />
      )}
      {left !== undefined && right !== undefined && leftText !== undefined && rightText !== undefined ? (
        <>
          <FigureRows left={left} right={right} />
          <PayloadRows key={ids.join(' ')} left={leftText} right={rightText} />
        </>
      ) : (
        failed === undefined && <Loading what="both calls" />
      )}
    </div>
  )
}

/** `+120 ms` or `−3`. */
const signed = (difference: number, format: (value: number) => string): string =>
  `${difference < 0 ? '−' : '+'}${format(Math.abs(difference))}`

/** `×1.4`, or nothing where there is no factor. */
const factor = (left: number, right: number): string =>
  left > 0 && right > 0 ? `×${Number((right / left).toPrecision(3))}` : ''

const FigureRows = ({ left, right }: { readonly left: Row; readonly right: Row }) => {
  const { team, project } = usePlace()
  const linkTo = ({ trace_id, id, op_name, display_name }: Row) => (
    <AppLink
      href={`/${team}/${project}/traces/${encodeURIComponent(trace_id)}?call=${encodeURIComponent(id)}`}
    >
      <Name text={display_name ?? opName(op_name)} />
    </AppLink>
  )
  const figure = (
    field: string,
    of: (row: Row) => number | null,
    format: (value: number) => string,
    view = (row: Row): ReactNode => (of(row) === null ? 'unknown' : format(of(row)!)),
  ) => {
    const [a, b] = [of(left), of(right)]
    return (
      <DiffRow
        field={field}
        isEqual={a === b}
        left={view(left)}
        right={
          <>
            {view(right)}
            {a !== null && b !== null && a !== b && (
              <span className="secondary">
                {' '}
                {signed(b - a, format)} {factor(a, b)}
              </span>
            )}
          </>
        }
      />
    )
  }
  return (
    <Section title="Figures">
      <DiffRow field="Call" isEqual={false} left={linkTo(left)} right={linkTo(right)} />
      <DiffRow
        field="Status"
        isEqual={left.status === right.status}
        left={<CallStatus status={left.status} />}
        right={<CallStatus status={right.status} />}
      />
      <DiffRow
        field="Started"
        isEqual={left.started_us === right.started_us}
        left={<Time at={left.started_us / 1000} />}
        right={<Time at={right.started_us / 1000} />}
      />
      {figure('Duration', ({ duration_us }) => duration_us, duration)}
      {figure('Tokens', ({ tokens }) => tokens, wholeNumber)}
      {figure(
        'Cost',
        (row) => (row.unpriced ? null : row.cost),
        cost,
        (row) => (
          <Cost dollars={row.cost} unpriced={row.unpriced} />
        ),
      )}
      <DiffRow
        field="Models"
        isEqual={left.models.join() === right.models.join()}
        left={<Name text={left.models.join(', ') || '—'} />}
        right={<Name text={right.models.join(', ') || '—'} />}
      />
    </Section>
  )
}

const shownOf = ({ inputs, asked, answered, op }: ReturnType<typeof partsOfCall>) => {
  const others = otherInputs(inputs, shownInputs(asked, op))
  return {
    messages: messagesIn(asked, op),
    answers: messagesOut(answered),
    parameters: Object.fromEntries(others.parameters),
    json: others.json === '' ? '{}' : others.json,
  }
}

const PayloadRows = ({ left, right }: { readonly left: string; readonly right: string }) => {
  const [a, b] = useMemo(() => [partsOfCall(left), partsOfCall(right)], [left, right])
  const [of, other] = useMemo(() => [shownOf(a), shownOf(b)] as const, [a, b])
  const parameters = [...new Set([...Object.keys(of.parameters), ...Object.keys(other.parameters)])]
  const areTexts = a.output.startsWith('"') && b.output.startsWith('"')
  return (
    <>
      {(a.exception !== 'null' || b.exception !== 'null') && (
        <Section title="Exception">
          <Words field="" left={wordOf(a.exception)} right={wordOf(b.exception)} />
        </Section>
      )}
      <Section title="Inputs">
        {parameters.map((name) => (
          <Words key={name} field={name} left={of.parameters[name]} right={other.parameters[name]} />
        ))}
        <Messages left={of.messages} right={other.messages} />
        <JsonRows left={of.json} right={other.json} />
      </Section>
      <Section title="Output">
        {of.answers.length > 0 && other.answers.length > 0 ? (
          <Messages left={of.answers} right={other.answers} />
        ) : areTexts ? (
          <Words field="" left={stringOf(a.output)} right={stringOf(b.output)} />
        ) : (
          <JsonRows left={a.output} right={b.output} />
        )}
      </Section>
      <Section title="Attributes">
        <JsonRows left={a.attributes} right={b.attributes} />
      </Section>
    </>
  )
}

const wordOf = (json: string): string | undefined => (json === 'null' ? undefined : stringOf(json))
