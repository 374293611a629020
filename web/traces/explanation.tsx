import { useQuery } from '@tanstack/react-query'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { opName, perMillion, plural, wholeNumber } from '../kit/format.js'
import { Cost } from '../kit/cost.js'
import { useAddress, useIdInPath, usePlace } from '../kit/place.js'
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
  reported_cost: 'cost reported by the provider',
}

const SOURCES: Readonly<Record<NonNullable<Row['price_source']>, string>> = {
  project: 'project',
  upstream: 'upstream',
  default: 'price list',
}

/** Where the total of a call comes from: each op below it, with units, prices and their source. */
export const Explanation = ({ callId }: { readonly callId: string }) => {
  const { projectId } = usePlace()
  const traceId = useIdInPath('trace')
  const [, setAddress] = useAddress()
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
  const columns = columnsFor((id) => setAddress({ call: id }, true))
  const { rows } = explanation.data
  const counted = rows.filter((row) => row.counted)
  const others = rows.filter((row) => !row.counted)
  return (
    <>
      <Table label="Contributions" columns={columns} rows={counted} keyOf={keyOf} />
      {others.length > 0 && (
        <>
          <h3 className="section">Not counted again</h3>
          <p style={{ margin: 0 }}>
            These calls reported what their descendants used, which is counted where it was used.
          </p>
          <Table label="Not counted" columns={columns.slice(0, 4)} rows={others} keyOf={keyOf} />
        </>
      )}
    </>
  )
}

const keyOf = ({ op, model, kind, unit_price, price_since, counted }: Row): string =>
  [op, model, kind, unit_price, price_since, counted].join(' ')

const columnsFor = (onSelect: (callId: string) => void): readonly Column<Row>[] => [
  {
    label: 'Op',
    cell: ({ op, calls, call_id }) => (
      <button
        type="button"
        className="link"
        title="Select the first of the calls"
        onClick={() => onSelect(call_id)}
      >
        {opName(op)}
        {calls > 1 && `, ${plural(calls, 'call')}`}
      </button>
    ),
  },
  { label: 'Model', cell: ({ model }) => <span title={model}>{model}</span> },
  { label: 'Kind', width: 90, cell: ({ kind }) => KINDS[kind] },
  { label: 'Tokens', width: 90, isNumber: true, cell: ({ units }) => wholeNumber(units) },
  {
    label: 'For a million',
    width: 100,
    isNumber: true,
    cell: ({ unit_price }) => (unit_price === null ? 'no price' : perMillion(unit_price)),
  },
  {
    label: 'Cost',
    width: 90,
    isNumber: true,
    cell: ({ cost }) => (cost === null ? '—' : <Cost dollars={Number(cost)} />),
  },
  {
    label: 'Price from',
    width: 150,
    cell: ({ price_source, price_since }) =>
      price_source === null ? (
        '—'
      ) : (
        <>
          {SOURCES[price_source]}, <Time at={price_since} />
        </>
      ),
  },
]
