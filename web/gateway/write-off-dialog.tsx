import { Button, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf } from '../kit/api.js'
import { cost, plural } from '../kit/format.js'
import { onSubmit } from '../kit/on-submit.js'
import { ActionFailed } from '../kit/states.js'
import { FormDialog } from '../kit/unsaved.js'
import { limitsKey, type Limit } from './limit-data.js'

/** Takes the costs that are reserved for completions of unknown usage out of the budgets. */
export const WriteOffDialog = ({
  team,
  limit: { scope, used },
  name,
  onClose,
}: {
  readonly team: string
  readonly limit: Limit
  readonly name: string
  readonly onClose: () => void
}) => {
  const queries = useQueryClient()
  const [reason, setReason] = useState('')
  const writeOff = useMutation({
    mutationFn: () =>
      dataOf(
        api.POST('/api/teams/{team}/limits/write-offs', {
          params: { path: { team } },
          body: { scope, period: used.budget!.of, reason: reason.trim() || null },
        }),
      ),
    onSuccess: () => void queries.invalidateQueries({ queryKey: limitsKey(team) }),
  })
  return (
    <FormDialog
      title={`Write off the unknown costs of ${name}?`}
      isChanged={reason !== '' && !writeOff.isSuccess}
      onClose={onClose}
    >
      {writeOff.isSuccess ? (
        <p role="status">
          ${writeOff.data.amount} of {plural(writeOff.data.calls.length, 'completion')} no longer count.
        </p>
      ) : (
        <form
          className="form"
          onSubmit={onSubmit(() => {
            writeOff.mutate()
          })}
        >
          <p style={{ margin: 0 }}>
            {cost(used.budget!.unknown)} are reserved in {used.budget!.of} for completions whose usage is
            unknown, such as those of a killed process. They no longer count in any budget then.
          </p>
          <TextInput
            label="Reason"
            data-autofocus
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
          <ActionFailed error={writeOff.error} what="The write-off" />
          <Button type="submit" color="red" loading={writeOff.isPending}>
            Write off
          </Button>
        </form>
      )}
    </FormDialog>
  )
}
