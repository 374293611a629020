import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { plural, wholeNumber } from '../kit/format.js'
import { Cost } from '../kit/cost.js'
import { Explanation, type CallOfTrace } from './explanation.js'
import { Name } from '../kit/marked.js'
import { usePlace } from '../kit/place.js'
import { Empty, Failed, Loading } from '../kit/states.js'
import { Table, type Column } from '../kit/table.js'

/** The usage of a call and its descendants by model. */
export const UsageTab = ({ callId, ...ofTrace }: CallOfTrace) => {
  const { projectId } = usePlace()
  const [isExplained, setExplained] = useState(false)
  const usage = useQuery({
    queryKey: ['usage', projectId, callId],
    queryFn: ({ signal }) =>
      dataOf(
        api.POST('/calls/usage', {
          body: { project_id: projectId, call_ids: [callId], include_costs: true },
          signal,
        }),
      ),
  })
  if (usage.isError)
    return <Failed error={usage.error} what="The usage" onRetry={() => void usage.refetch()} />
  if (usage.isPending) return <Loading what="the usage" />
  const models = Object.entries(usage.data.call_usage[callId] ?? {}).map(([model, used]) => ({
    ...used,
    model,
  }))
  if (models.length === 0) return <Empty title="No usage is recorded for this call or its descendants." />
  return (
    <>
      <Table label="Usage by model" columns={COLUMNS} rows={models} keyOf={({ model }) => model} isTall />
      {isExplained ? (
        <Explanation callId={callId} {...ofTrace} />
      ) : (
        <div>
          <Button size="compact-sm" variant="default" onClick={() => setExplained(true)}>
            Explain this total
          </Button>
        </div>
      )}
    </>
  )
}

type Used = Schemas['UsageResponse']['call_usage'][string][string]

interface Row extends Used {
  readonly model: string
}

const COLUMNS: readonly Column<Row>[] = [
  { label: 'Cost', width: 88, isNumber: true, cell: (row) => <Cost {...costOf(row)} /> },
  {
    label: 'Model',
    cell: ({ model, requests, prompt_tokens, completion_tokens, cache_read_input_tokens: cached }) => (
      <>
        <strong title={model}>
          <Name text={model} />
        </strong>
        <div className="secondary">
          {plural(requests, 'request')}, {wholeNumber(prompt_tokens)} in
          {prompt_tokens > 0 && cached > 0 && (
            <>
              {' '}
              (
              <span title={`${wholeNumber(cached)} tokens`}>
                {Math.round((100 * cached) / prompt_tokens)} % from the cache
              </span>
              )
            </>
          )}
          , {wholeNumber(completion_tokens)} out
        </div>
      </>
    ),
  },
  { label: 'Tokens', width: 96, isNumber: true, cell: ({ total_tokens }) => wholeNumber(total_tokens) },
]

/** The sum of the known costs, and whether a part has no price. */
const costOf = (used: Used): { readonly dollars: number; readonly unpriced: boolean } => {
  const costs = [
    used.prompt_tokens_total_cost,
    used.completion_tokens_total_cost,
    used.cache_read_input_tokens_total_cost,
    used.cache_creation_input_tokens_total_cost,
  ]
  return {
    dollars: [
      ...costs,
      used.web_search_requests_total_cost,
      used.requests_total_cost,
      used.seconds_total_cost,
      used.characters_total_cost,
      used.images_total_cost,
      used.provider_cost,
    ].reduce<number>((sum, one) => sum + (one ?? 0), 0),
    unpriced: costs.includes(null),
  }
}
