import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { ConfirmButton } from '../kit/confirm.js'
import { useSession } from '../kit/session.js'
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

/** The API keys of the team's members. Keys are valid in all teams of their user, so the service's administrator revokes them. */
export const TeamKeys = ({ team }: { readonly team: string }) => {
  const { user } = useSession()
  const queries = useQueryClient()
  const keys = useTeamKeys(team)
  const revoke = useMutation({
    mutationFn: ({ user: of, id }: TeamKey) => {
      const query = { cascade: 'false' } as const
      return dataOf(
        of === user.user
          ? api.DELETE('/api/users/me/api-keys/{id}', { params: { path: { id }, query } })
          : api.DELETE('/api/users/{user}/api-keys/{id}', { params: { path: { user: of, id }, query } }),
      )
    },
    onSuccess: () => void queries.invalidateQueries({ queryKey: keyOf(team) }),
  })
  if (keys.isError) return <Failed error={keys.error} what="The keys" onRetry={() => void keys.refetch()} />
  if (!keys.isSuccess) return <Loading what="keys" />
  const rows = keys.data.data
  if (rows.length === 0) return <Empty title="The members of this team have no API keys" />
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
              (user.administrator || key.user === user.user) && (
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
      {!user.administrator && (
        <div className="secondary">
          Keys are valid in all teams of their user: the administrator of the service can revoke them.
        </div>
      )}
      {keys.data.next !== null && <div className="secondary">The first 1,000 keys are shown.</div>}
    </>
  )
}
