import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type Schemas } from '../kit/api.js'
import { ConfirmButton } from '../kit/confirm.js'
import { SecretDialog } from './secret-picker.js'
import { ActionFailed, Empty, Failed, Loading } from '../kit/states.js'
import { Table } from '../kit/table.js'
import { keysOfTeam, useSecrets, useUpstreams, useWebhooks } from '../kit/team-data.js'
import { Time } from '../kit/time.js'

type Secret = Schemas['Secret']

/** The secrets of a team: names and versions, never values. */
export const Secrets = ({ team, canChange }: { readonly team: string; readonly canChange: boolean }) => {
  const secrets = useSecrets(team, canChange)
  const webhooks = useWebhooks(team, canChange)
  const upstreams = useUpstreams(team, canChange)
  const queries = useQueryClient()
  // '' for a new one
  const [edited, setEdited] = useState<Secret | '' | null>(null)
  const remove = useMutation({
    mutationFn: (name: string) =>
      api.DELETE('/api/teams/{team}/secrets/{name}', {
        params: { path: { team, name }, query: { force: 'true' } },
      }),
    onSuccess: () => void queries.invalidateQueries({ queryKey: keysOfTeam.secrets(team) }),
  })
  if (!canChange)
    return (
      <Empty title="You cannot see the secrets of this team">
        It needs the role team_administrator, which the team&apos;s administrators can give you.
      </Empty>
    )
  const usersOf = (secret: string) =>
    [
      ...(webhooks.data?.data ?? [])
        .filter(({ access_token, secret: signing, headers }) =>
          uses([access_token, signing], [headers], secret),
        )
        .map(({ name }) => `webhook ${name}`),
      ...(upstreams.data?.data ?? [])
        .filter(({ secret: sent, headers, query }) => uses([sent], [headers, query], secret))
        .map(({ name }) => `upstream ${name}`),
    ].sort()
  return (
    <>
      <p style={{ margin: 0 }}>
        Webhooks, inference upstreams and HTTP scorers use secrets by their names. A value can be replaced,
        but not read.
      </p>
      <div>
        <Button onClick={() => setEdited('')}>Create a secret</Button>
      </div>
      {secrets.isError && (
        <Failed error={secrets.error} what="The secrets" onRetry={() => void secrets.refetch()} />
      )}
      <ActionFailed error={remove.error} what="The deletion" />
      {secrets.isPending && <Loading what="secrets" />}
      {secrets.data?.data.length === 0 && <Empty title="This team has no secrets yet" />}
      {secrets.isSuccess && secrets.data.data.length > 0 && (
        <Table<Secret>
          label="Secrets"
          rows={secrets.data.data}
          keyOf={({ name }) => name}
          columns={[
            { label: 'Name', cell: ({ name }) => <span className="mono">{name}</span> },
            { label: 'Version', width: 80, isNumber: true, cell: ({ version }) => String(version) },
            { label: 'Changed', width: 150, cell: ({ updated_at }) => <Time at={updated_at} /> },
            { label: 'For', cell: ({ used_for }) => used_for.join(', ') },
            { label: 'Used by', cell: ({ name }) => usersOf(name).join(', ') || '—' },
            {
              label: '',
              width: 190,
              cell: (secret) => {
                const { name } = secret
                return (
                  <>
                    <Button
                      size="compact-sm"
                      variant="default"
                      mr={8}
                      aria-label={`New value for ${name}`}
                      onClick={() => setEdited(secret)}
                    >
                      New value
                    </Button>
                    <ConfirmButton
                      label="Delete"
                      title={`Delete the secret ${name}?`}
                      onConfirm={() => remove.mutate(name)}
                    >
                      <p>
                        All versions of its value are destroyed.{' '}
                        {usersOf(name).length > 0 &&
                          `These do not work without it: ${usersOf(name).join(', ')}.`}
                      </p>
                    </ConfirmButton>
                  </>
                )
              },
            },
          ]}
        />
      )}
      {edited !== null && (
        <SecretDialog
          team={team}
          {...(edited === '' ? {} : { name: edited.name, usedFor: edited.used_for })}
          onClose={() => setEdited(null)}
          onStored={() => setEdited(null)}
        />
      )}
    </>
  )
}

type Templates = Readonly<Record<string, string>> | null | undefined

/** Whether one of the names is the secret, or one of the templates names it. */
const uses = (
  names: readonly (string | null | undefined)[],
  templates: readonly Templates[],
  secret: string,
): boolean =>
  names.includes(secret) ||
  templates
    .flatMap((values) => Object.values(values ?? {}))
    .some((value) => value.includes(`$${secret}`) || value.includes(`\${${secret}}`))
