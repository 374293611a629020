import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf, type Schemas } from '../api.js'
import { wholeNumber } from '../format.js'
import { Cost } from './cost.js'
import { Explanation } from './explanation.js'
import { usePlace } from './place.js'
import { Empty, Failed, Loading } from './states.js'

/** The usage of a call and its descendants by model. */
export const UsageTab = ({ callId }: { readonly callId: string }) => {
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
  const models = Object.entries(usage.data.call_usage[callId] ?? {})
  if (models.length === 0) return <Empty title="No usage is recorded for this call or its descendants." />
  return (
    <>
      <ModelTable models={models} />
      {isExplained ? (
        <Explanation callId={callId} />
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

const ModelTable = ({ models }: { readonly models: readonly (readonly [string, Used])[] }) => (
  <div className="scroll">
    <table className="table" style={{ minWidth: 480 }}>
      <thead>
        <tr>
          <th scope="col">Model</th>
          {['Requests', 'Input', 'Output', 'Total', 'Cost'].map((label) => (
            <th key={label} scope="col" className="number">
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {models.map(([model, used]) => {
          const costs = [
            used.prompt_tokens_total_cost,
            used.completion_tokens_total_cost,
            used.cache_read_input_tokens_total_cost,
            used.cache_creation_input_tokens_total_cost,
          ]
          const isUnpriced = costs.some((one) => one === null)
          const total = costs.reduce<number>((sum, one) => sum + (one ?? 0), used.provider_cost ?? 0)
          return (
            <tr key={model}>
              <td title={model}>{model}</td>
              <td className="number">{wholeNumber(used.requests)}</td>
              <td className="number">{wholeNumber(used.prompt_tokens)}</td>
              <td className="number">{wholeNumber(used.completion_tokens)}</td>
              <td className="number">{wholeNumber(used.total_tokens)}</td>
              <td className="number">
                <Cost dollars={total} unpriced={isUnpriced} />
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  </div>
)
