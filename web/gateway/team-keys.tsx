import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { AppLink } from '../kit/app-link.js'
import { ConfirmButton } from '../kit/confirm.js'
import { ActionFailed, Empty, Failed, Loading } from '../kit/states.js'
import { Table, type Column } from '../kit/table.js'
import { Time } from '../kit/time.js'

type TeamKey = Schemas['TeamApiKey']

const keyOf = (team: string) => ['team keys', team]

export const useTeamKeys = (team: string) =>
  useQuery({
    queryKey: keyOf(team),
    queryFn: ({ signal }) =>
      dataOf(
        api.GET('/api/teams/{team}/api-keys', { params: { path: { team }, query: { limit: 1000 } }, signal }),
      ),
  })

const COLUMNS: readonly Column<TeamKey>[] = [
  { label: 'User', cell: ({ user }) => user },
  { label: 'Name', cell: ({ name }) => name ?? '—' },
  { label: 'Begins with', width: 150, cell: ({ prefix }) => <span className="mono">{prefix}…</span> },
  { label: 'Created', width: 150, cell: ({ created_at }) => <Time at={created_at} /> },
  {
    label: 'Expires',
    width: 150,
    cell: ({ expires_at }) => (expires_at === null ? 'never' : <Time at={expires_at} />),
  },
  { label: 'Last used', width: 110, cell: ({ last_used_at }) => last_used_at?.slice(0, 10) ?? 'never' },
]

/** The API keys of the team's members. */
export const TeamKeys = ({ team }: { readonly team: string }) => {
  const queries = useQueryClient()
  const keys = useTeamKeys(team)
  const revoke = useMutation({
    mutationFn: ({ id }: TeamKey) =>
      dataOf(
        api.DELETE('/api/teams/{team}/api-keys/{id}', {
          params: { path: { team, id }, query: { cascade: 'false' } },
        }),
      ),
    onSuccess: () => void queries.invalidateQueries({ queryKey: keyOf(team) }),
  })
  if (keys.isError) return <Failed error={keys.error} what="The keys" onRetry={() => void keys.refetch()} />
  if (!keys.isSuccess) return <Loading what="keys" />
  const rows = keys.data.data
  if (rows.length === 0)
    return (
      <Empty title="The members of this team have no API keys">
        Programs use the gateway with an API key. Members make theirs on{' '}
        <AppLink href="/-/account">their account page</AppLink>.
      </Empty>
    )
  return (
    <>
      <ActionFailed error={revoke.error} what="The revocation" />
      <Table
        label="API keys of the team"
        rows={rows}
        keyOf={({ id }) => id}
        columns={[
          ...COLUMNS,
          {
            label: '',
            width: 100,
            cell: (key) =>
              key.can_revoke && (
                <ConfirmButton
                  label="Revoke"
                  title={`Revoke ${key.name ?? key.prefix} of ${key.user}?`}
                  onConfirm={() => revoke.mutate(key)}
                >
                  <p>Programs that use this key will be refused, in all teams of {key.user}.</p>
                </ConfirmButton>
              ),
          },
        ]}
      />
      {rows.some(({ can_revoke }) => !can_revoke) && (
        <div className="secondary">
          Keys of members who belong to teams that you do not administer are revoked by the administrator of
          the service.
        </div>
      )}
      {keys.data.next !== null && <div className="secondary">The first 1,000 keys are shown.</div>}
    </>
  )
}
