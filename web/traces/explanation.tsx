import { useQuery } from '@tanstack/react-query'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { opName, perMillion, plural, wholeNumber } from '../kit/format.js'
import { Cost } from '../kit/cost.js'
import { Name } from '../kit/marked.js'
import { usePlace } from '../kit/place.js'
import { Failed, Loading } from '../kit/states.js'
import { Table, type Column } from '../kit/table.js'
import { Time } from '../kit/time.js'

type Row = Schemas['UsageContribution']

const KINDS: Readonly<Record<Row['kind'], string>> = {
  prompt_tokens: 'input',
  completion_tokens: 'output',
  cache_read_input_tokens: 'cache read',
  cache_creation_input_tokens: 'cache write',
  cache_creation_1h_input_tokens: 'cache write, 1 h',
  prompt_audio_tokens: 'prompt audio',
  completion_audio_tokens: 'completion audio',
  web_search_requests: 'search',
  requests: 'request',
  seconds: 'second',
  characters: 'character',
  images: 'image',
  reported_cost: 'cost reported by the provider',
}

const SOURCES: Readonly<Record<NonNullable<Row['price_source']>, string>> = {
  project: 'project',
  upstream: 'upstream',
  default: 'price list',
}

export interface CallOfTrace {
  readonly traceId: string
  readonly callId: string
  /** Selects another call of the trace. */
  readonly onSelect: (callId: string) => void
}

/** Where the total of a call comes from: each op below it, with units, prices and their source. */
export const Explanation = ({ traceId, callId, onSelect }: CallOfTrace) => {
  const { projectId } = usePlace()
  const explanation = useQuery({
    queryKey: ['explanation', projectId, traceId, callId],
    queryFn: ({ signal }) =>
      dataOf(
        api.POST('/api/pages/explain', {
          body: { project_id: projectId, trace_id: traceId, call_id: callId },
          signal,
        }),
      ),
  })
  if (explanation.isError)
    return (
      <Failed error={explanation.error} what="The explanation" onRetry={() => void explanation.refetch()} />
    )
  if (explanation.isPending) return <Loading what="the explanation" />
  const columns = columnsFor(onSelect)
  const { rows } = explanation.data
  const counted = rows.filter((row) => row.counted)
  const others = rows.filter((row) => !row.counted)
  return (
    <>
      <h3 className="section">Counted</h3>
      <Table label="Contributions" columns={columns} rows={counted} keyOf={keyOf} isTall />
      {others.length > 0 && (
        <>
          <h3 className="section">Not counted again</h3>
          <p style={{ margin: 0 }}>
            These calls reported what their descendants used, which is counted where it was used.
          </p>
          <Table label="Not counted" columns={columns.slice(1, 3)} rows={others} keyOf={keyOf} isTall />
        </>
      )}
    </>
  )
}

const keyOf = ({ op, model, kind, unit_price, price_since, counted }: Row): string =>
  [op, model, kind, unit_price, price_since, counted].join(' ')

const columnsFor = (onSelect: (callId: string) => void): readonly Column<Row>[] => [
  {
    label: 'Cost',
    width: 88,
    isNumber: true,
    cell: ({ cost }) => (cost === null ? 'no price' : <Cost dollars={Number(cost)} />),
  },
  {
    label: 'What',
    cell: ({ op, calls, call_id, model, kind }) => (
      <>
        <button
          type="button"
          className="link"
          title="Select the first of the calls"
          onClick={() => onSelect(call_id)}
        >
          <Name text={opName(op)} />
          {calls > 1 && `, ${plural(calls, 'call')}`}
        </button>
        <div className="secondary" title={model}>
          <Name text={model} />, {KINDS[kind]}
        </div>
      </>
    ),
  },
  {
    label: 'Units',
    width: 104,
    isNumber: true,
    cell: ({ units, unit_price }) => (
      <>
        {wholeNumber(units)}
        {unit_price !== null && <div className="secondary">{perMillion(unit_price)} a million</div>}
      </>
    ),
  },
  {
    label: 'Price from',
    width: 104,
    cell: ({ price_source, price_since }) =>
      price_source !== null && (
        <>
          {SOURCES[price_source]}
          <div className="secondary">
            <Time at={price_since} />
          </div>
        </>
      ),
  },
]
