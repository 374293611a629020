import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { plural } from '../kit/format.js'
import { ActionFailed } from '../kit/states.js'

/** Resends, cancels or redrives the selected deliveries, or all that the filter of the list matches. */
export const SelectionActions = ({
  team,
  ids,
  filter,
  onDone,
}: {
  readonly team: string
  readonly ids: readonly string[]
  /** What all deliveries of the list have in common. */
  readonly filter: Schemas['DeliverySelection']
  readonly onDone: () => void
}) => {
  const queries = useQueryClient()
  const [areAll, setAll] = useState(false)
  const act = useMutation({
    mutationFn: (action: Schemas['DeliveryActions']['action']) => {
      const which = areAll ? { filter } : { ids: [...ids] }
      return dataOf(api.POST('/api/deliveries/actions', { body: { team, action, ...which } }))
    },
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ['deliveries', team] })
      void queries.invalidateQueries({ queryKey: ['delivery counts', team] })
    },
  })
  const { done = 0, not_possible = {}, next } = act.data ?? {}
  const others = Object.entries(not_possible).map(([why, count]) => `${count} not possible: ${why}`)
  return (
    <div className="bar" role="group" aria-label="Selected deliveries">
      <strong>
        {areAll
          ? 'All that match the filter'
          : ids.length === 0
            ? 'None'
            : plural(ids.length, 'delivery', 'deliveries')}{' '}
        selected
      </strong>
      <Button size="compact-sm" variant="subtle" onClick={() => setAll(!areAll)}>
        {areAll ? 'Only those that are checked' : 'Select all that match the filter'}
      </Button>
      {(['resend', 'cancel', 'redrive'] as const).map((action) => (
        <Button
          key={action}
          size="compact-sm"
          variant="default"
          title={ACTIONS[action]}
          disabled={!areAll && ids.length === 0}
          loading={act.isPending && act.variables === action}
          onClick={() => act.mutate(action)}
        >
          {action[0]!.toUpperCase() + action.slice(1)}
        </Button>
      ))}
      {ids.length > 0 && (
        <Button size="compact-sm" variant="subtle" onClick={onDone}>
          Clear the selection
        </Button>
      )}
      <span role="status">
        {act.isSuccess
          ? [`${done} done`, ...others, ...(next ? ['there are more: repeat it'] : [])].join('; ')
          : ''}
      </span>
      <ActionFailed error={act.error} what="The action" />
    </div>
  )
}

const ACTIONS = {
  resend: 'Sends each message once more, as it was rendered',
  cancel: 'Ends deliveries that wait',
  redrive: 'Sends failed deliveries again',
} as const
