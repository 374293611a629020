import { Button, Menu } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api, dataOf } from '../kit/api.js'
import { useAsOf } from '../kit/as-of.js'
import { EraseContentButton } from '../erasures/erase-content.js'
import { ConfirmButton } from '../kit/confirm.js'
import { CopyButton } from '../kit/copy.js'
import { plural, wholeNumber } from '../kit/format.js'
import { useAddress, usePlace } from '../kit/place.js'
import { printSearch } from '../kit/search.js'
import { useRights } from '../kit/session.js'
import { ActionFailed } from '../kit/states.js'
import type { Selection } from './selection.js'
import { useListQuestion } from './use-summary.js'

/** What can be done with the selected rows; an export without a selection has the whole list. */
export const ListActions = ({
  selection,
  total,
  sortBy,
}: {
  readonly selection: Selection
  /** Of the list. */
  readonly total: number | undefined
  readonly sortBy: { readonly field: string; readonly direction: 'asc' | 'desc' }
}) => {
  const { team, project } = usePlace()
  const [{ roots = '1' }] = useAddress()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const { body } = useListQuestion()
  const isPresent = useAsOf() === ''
  const { isTeamAdministrator } = useRights(team)
  const ids = selection.rows.map(({ id }) => id)
  const count = ids.length
  const remove = useMutation({
    mutationFn: () =>
      dataOf(api.POST('/calls/delete', { body: { project_id: body.project_id, call_ids: ids } })),
    onSuccess: () => {
      selection.clear()
      void queries.invalidateQueries()
    },
  })
  const exported = useMutation({
    mutationFn: async (format: 'csv' | 'jsonl' | 'parquet') => {
      const chosen = count === 0 ? body : { ...body, filter: { call_ids: ids }, query: null }
      const link = await dataOf(
        api.POST('/api/pages/export', { body: { ...chosen, sort_by: [sortBy], format } }),
      )
      const anchor = document.createElement('a')
      anchor.href = link.url
      anchor.download = ''
      anchor.click()
      return link
    },
  })
  const what = count === 0 ? 'the list' : plural(count, 'row')
  const { data: link } = exported
  return (
    <>
      {count > 0 && (
        <>
          <strong>{wholeNumber(count)} selected</strong>
          <Button
            size="compact-xs"
            variant="default"
            disabled={count !== 2}
            title={count === 2 ? undefined : 'Select two rows to compare them'}
            onClick={() =>
              void navigate({ href: `/${team}/${project}/compare${printSearch({ calls: ids.join(',') })}` })
            }
          >
            Compare
          </Button>
          <CopyButton text={ids.join('\n')}>Copy ids</CopyButton>
          <ConfirmButton
            label="Delete"
            color="red"
            size="compact-xs"
            title={`Delete ${plural(count, roots === '1' ? 'trace' : 'call')}?`}
            onConfirm={() => remove.mutate()}
          >
            With everything below. This cannot be undone.
          </ConfirmButton>
          {isTeamAdministrator && isPresent && (
            <EraseContentButton path={{ entity: team, project }} callIds={ids} />
          )}
          <Button size="compact-xs" variant="default" onClick={selection.clear}>
            Clear selection
          </Button>
        </>
      )}
      <Menu position="top-end">
        <Menu.Target>
          <Button size="compact-xs" variant="default" loading={exported.isPending}>
            Export {what}
            {!isPresent && ' of now'}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => exported.mutate('csv')}>CSV</Menu.Item>
          <Menu.Item onClick={() => exported.mutate('jsonl')}>JSON lines</Menu.Item>
          <Menu.Item onClick={() => exported.mutate('parquet')}>Parquet</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {link !== undefined && count === 0 && total !== undefined && total > link.limit && (
        <span role="status">
          The file has the first {wholeNumber(link.limit)} of {wholeNumber(total)}.
        </span>
      )}
      <ActionFailed
        error={exported.error ?? remove.error}
        what={exported.isError ? 'The export' : 'Deleting'}
      />
    </>
  )
}
