import { Tabs } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { HistoryLink } from '../history/history-link.js'
import { textOf } from '../kit/api.js'
import { duration, wholeNumber } from '../kit/format.js'
import { CopyButton } from '../kit/copy.js'
import { Cost } from '../kit/cost.js'
import { Feedback } from './feedback.js'
import { JsonView } from '../kit/json-view.js'
import { Name } from '../kit/marked.js'
import { useAddress, usePlace } from '../kit/place.js'
import { Failed, Loading } from '../kit/states.js'
import { CallStatus } from '../kit/status.js'
import { Time } from '../kit/time.js'
import { nameOf, statusOf, type TraceColumns } from './trace-columns.js'
import { Payload } from './payload.js'
import { UsageTab } from './usage-tab.js'

/** The payload of a call, as text. */
export const payloadOf = (projectId: string, id: string) =>
  queryOptions({
    queryKey: ['call', projectId, id],
    queryFn: ({ signal }) => textOf('/call/read', { project_id: projectId, id }, signal),
    gcTime: 60_000,
  })

interface Figures {
  readonly tokens: number
  readonly cost: number
  readonly unpriced: boolean
}

/** What is known of a call before its payload is read. */
export interface CallHead {
  readonly id: string
  readonly traceId: string
  readonly name: string
  readonly status: string
  /** In microseconds since 1970. */
  readonly startedUs: number
  /** In microseconds; null while the call is running. */
  readonly duration: number | null
  readonly models: string
  /** With all descendants. */
  readonly usage: Figures
  readonly own?: Figures
  readonly feedback: number
}

export const headAt = (trace: TraceColumns, traceId: string, row: number): CallHead => ({
  id: trace.ids[row]!,
  traceId,
  name: nameOf(trace, row),
  status: statusOf(trace, row),
  startedUs: trace.started_us + trace.starts[row]!,
  duration: trace.durations[row] ?? null,
  models: trace.model_names[trace.models[row]!] ?? '',
  usage: { tokens: trace.tokens[row]!, cost: trace.costs[row]!, unpriced: trace.unpriced.includes(row) },
  own: {
    tokens: trace.own_tokens[row]!,
    cost: trace.own_costs[row]!,
    unpriced: trace.own_unpriced.includes(row),
  },
  feedback: trace.feedback[String(row)] ?? 0,
})

interface Props {
  readonly call: CallHead
  /** Selects another call of the trace. */
  readonly onSelect: (callId: string) => void
  /** Buttons. */
  readonly children?: ReactNode
}

/** A call: its figures at once, its payload when it has arrived. */
export const CallDetail = ({ call: head, onSelect, children }: Props) => {
  const { projectId } = usePlace()
  const [{ tab = 'call' }, setAddress] = useAddress()
  const { id, usage, own } = head
  const call = useQuery(payloadOf(projectId, id))
  const waiting = call.isError ? (
    <Failed error={call.error} what="The call" onRetry={() => void call.refetch()} />
  ) : (
    <Loading what={head.name} />
  )
  return (
    <>
      <div className="bar">
        <h2>
          <Name text={head.name} />
        </h2>
        <CallStatus status={head.status} />
        <span className="spacer" />
        <HistoryLink object={id} />
        <CopyButton text={id}>Copy id</CopyButton>
        {children}
      </div>
      <dl className="facts">
        <dt>Started</dt>
        <dd>
          <Time at={head.startedUs / 1000} />
          {head.duration === null ? ', running' : `, took ${duration(head.duration)}`}
        </dd>
        {head.models !== '' && (
          <>
            <dt>Model</dt>
            <dd>
              <Name text={head.models} />
            </dd>
          </>
        )}
        {usage.tokens !== 0 && (
          <>
            <dt>Tokens</dt>
            <dd>
              {wholeNumber(usage.tokens)} with all descendants
              {own !== undefined && `, ${wholeNumber(own.tokens)} of its own`}
            </dd>
            <dt>Cost</dt>
            <dd>
              <Cost dollars={usage.cost} unpriced={usage.unpriced} /> with all descendants
              {own !== undefined && (
                <>
                  , <Cost dollars={own.cost} unpriced={own.unpriced} /> of its own
                </>
              )}
            </dd>
          </>
        )}
      </dl>
      <Tabs
        value={tab}
        onChange={(next) => setAddress({ tab: next === 'call' ? '' : (next ?? '') }, true)}
        keepMounted={false}
      >
        <Tabs.List>
          <Tabs.Tab value="call">Call</Tabs.Tab>
          <Tabs.Tab value="usage">Usage</Tabs.Tab>
          <Tabs.Tab value="feedback">Feedback{head.feedback > 0 ? ` (${head.feedback})` : ''}</Tabs.Tab>
          <Tabs.Tab value="raw">Raw</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="call" pt={12}>
          {call.isSuccess ? <Payload key={id} text={call.data} /> : waiting}
        </Tabs.Panel>
        <Tabs.Panel value="usage" pt={12}>
          <UsageTab key={id} traceId={head.traceId} callId={id} onSelect={onSelect} />
        </Tabs.Panel>
        <Tabs.Panel value="feedback" pt={12}>
          <Feedback key={id} callId={id} />
        </Tabs.Panel>
        <Tabs.Panel value="raw" pt={12}>
          {call.isSuccess ? <JsonView key={id} text={call.data} label="The call" /> : waiting}
        </Tabs.Panel>
      </Tabs>
    </>
  )
}
