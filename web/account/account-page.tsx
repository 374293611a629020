import { Button, Checkbox, Modal, NativeSelect, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { api, dataOf } from '../kit/api.js'
import { ConfirmButton } from '../kit/confirm.js'
import { Table } from '../kit/table.js'
import { Snippets } from '../kit/first-trace.js'
import { CopyButton } from '../kit/copy.js'
import { ActionFailed, Failed, Loading, messageOf } from '../kit/states.js'
import { Time } from '../kit/time.js'
import { useSession } from '../kit/session.js'
import { onSubmit } from '../kit/on-submit.js'
import { useTitle } from '../kit/title.js'
import { useUnsaved } from '../kit/unsaved.js'

/** The user's API keys and sessions. */
export const AccountPage = () => {
  const { user } = useSession()
  const keys = useApiKeys()
  useTitle('Account')
  return (
    <div className="page" style={{ maxWidth: 960 }}>
      <h1>{user.user}</h1>
      <ApiKeys />
      {/* below the keys, so that it does not move when they arrive */}
      {!keys.isPending && <Sessions />}
    </div>
  )
}

const KEY = ['api keys']

const DAY_MS = 24 * 3600 * 1000
/** In days. */
const LIFETIMES = [
  { value: '', label: 'never' },
  { value: '7', label: 'in 7 days' },
  { value: '30', label: 'in 30 days' },
  { value: '90', label: 'in 90 days' },
  { value: '365', label: 'in a year' },
]

const useApiKeys = () =>
  useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/users/me/api-keys', { params: { query: { limit: 1000 } }, signal })),
  })

const ApiKeys = () => {
  const { user } = useSession()
  const queries = useQueryClient()
  const [name, setName] = useState('')
  const [days, setDays] = useState('')
  const [created, setCreated] = useState<string>()
  const unsaved = useUnsaved(name.trim() !== '')
  const keys = useApiKeys()
  const refresh = () => void queries.invalidateQueries({ queryKey: KEY })
  const create = useMutation({
    mutationFn: () => {
      const expires_at = days === '' ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString()
      return dataOf(api.POST('/api/users/me/api-keys', { body: { name: name.trim() || null, expires_at } }))
    },
    onSuccess: ({ api_key }) => {
      setName('')
      setCreated(api_key ?? '')
      refresh()
    },
  })
  const revoke = useMutation({
    mutationFn: ({ id, cascade }: { id: string; cascade: 'true' | 'false' }) =>
      dataOf(api.DELETE('/api/users/me/api-keys/{id}', { params: { path: { id }, query: { cascade } } })),
    onSuccess: refresh,
  })
  const submit = onSubmit(() => {
    create.mutate()
  })
  return (
    <section className="page" style={{ padding: 0 }} aria-labelledby="keys">
      <h2 id="keys">API keys</h2>
      <form className="bar" onSubmit={submit} style={{ alignItems: 'flex-end' }}>
        <TextInput
          label="Name of a new key"
          value={name}
          error={create.error === null ? undefined : messageOf(create.error)}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <NativeSelect
          label="Expires"
          value={days}
          data={LIFETIMES}
          onChange={(event) => setDays(event.currentTarget.value)}
        />
        <Button type="submit" loading={create.isPending}>
          Create a key
        </Button>
      </form>
      {keys.isError && <Failed error={keys.error} what="The keys" onRetry={() => void keys.refetch()} />}
      <ActionFailed error={revoke.error} what="The revocation" />
      {keys.isPending && <Loading what="keys" />}
      {keys.isSuccess && (
        <Table
          label="API keys"
          rows={keys.data.data}
          keyOf={({ id }) => id}
          columns={[
            { label: 'Name', cell: (key) => key.name ?? '—' },
            {
              label: 'Begins with',
              width: 140,
              cell: ({ prefix }) => <span className="mono">{prefix}…</span>,
            },
            { label: 'Created', width: 150, cell: ({ created_at }) => <Time at={created_at} /> },
            {
              label: 'Expires',
              width: 150,
              cell: ({ expires_at }) => (expires_at === null ? 'never' : <Time at={expires_at} />),
            },
            {
              label: 'Last used',
              width: 110,
              cell: ({ last_used_at }) => last_used_at?.slice(0, 10) ?? 'never',
            },
            {
              label: '',
              width: 100,
              cell: (key) => (
                <RevokeButton
                  name={key.name ?? key.prefix}
                  onConfirm={(cascade) => revoke.mutate({ id: key.id, cascade: cascade ? 'true' : 'false' })}
                />
              ),
            },
          ]}
        />
      )}
      {unsaved.dialog}
      <Modal
        opened={created !== undefined}
        onClose={() => setCreated(undefined)}
        title="Your new key"
        size="lg"
      >
        <p>Copy it now: it is not shown again.</p>
        <pre className="code" tabIndex={0}>
          {created}
        </pre>
        <div className="bar" style={{ margin: '8px 0 16px' }}>
          <CopyButton text={created ?? ''}>Copy the key</CopyButton>
          <CopyButton text={`WANDB_API_KEY=${created ?? ''}\n`}>Copy as .env line</CopyButton>
        </div>
        <Snippets projectId={`${user.teams[0]?.team ?? 'my-team'}/my-project`} apiKey={created ?? ''} />
      </Modal>
    </section>
  )
}

const RevokeButton = ({
  name,
  onConfirm,
}: {
  readonly name: string
  readonly onConfirm: (cascade: boolean) => void
}) => {
  const cascade = useRef<HTMLInputElement>(null)
  return (
    <ConfirmButton
      label="Revoke"
      title={`Revoke ${name}?`}
      onConfirm={() => onConfirm(cascade.current?.checked ?? false)}
    >
      <p>Programs that use this key will be refused.</p>
      <Checkbox ref={cascade} label="Also revoke the keys that it made" />
    </ConfirmButton>
  )
}

const Sessions = () => {
  const { user, refresh, signOut } = useSession()
  const end = useMutation({
    mutationFn: (id: string) => dataOf(api.DELETE('/api/sessions/{id}', { params: { path: { id } } })),
    onSuccess: () => void refresh(),
  })
  return (
    <section className="page" style={{ padding: 0 }} aria-labelledby="sessions">
      <h2 id="sessions">Sessions</h2>
      <ActionFailed error={end.error} what="The sign-out" />
      <Table
        label="Sessions"
        rows={user.sessions}
        keyOf={({ id }) => id}
        columns={[
          {
            label: 'Signed in',
            cell: ({ created_at, current }) => (
              <>
                <Time at={created_at} /> {current && '(this one)'}
              </>
            ),
          },
          { label: 'Ends', width: 116, cell: ({ expires_at }) => <Time at={expires_at} /> },
          {
            label: '',
            width: 106,
            cell: ({ id, current }) => (
              <Button
                size="compact-sm"
                variant="default"
                onClick={() => (current ? void signOut() : end.mutate(id))}
              >
                {current ? 'Sign out' : 'End'}
              </Button>
            ),
          },
        ]}
      />
    </section>
  )
}
