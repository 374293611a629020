import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { ConfirmButton } from '../kit/confirm.js'
import { EditorForm } from '../kit/editor-form.js'
import { useIdInPath, usePlace } from '../kit/place.js'
import { useRights } from '../kit/session.js'
import { ActionFailed, Empty, Failed, Loading } from '../kit/states.js'
import { keysOfTeam } from '../kit/team-data.js'
import { useTitle } from '../kit/title.js'
import { isChangedFrom, useUnsaved } from '../kit/unsaved.js'
import { bodyOfUpstream, draftOfUpstream, EMPTY_UPSTREAM, type UpstreamDraft } from './upstream-draft.js'
import { UpstreamFields } from './upstream-form.js'
import { UpstreamTester } from './upstream-test.js'

type Upstream = Schemas['Upstream']

/** One upstream, or with the id `new` the form of another. */
export const UpstreamPage = () => {
  const { team } = usePlace()
  const id = useIdInPath('id')
  const { isTeamAdministrator } = useRights(team)
  const isNew = id === 'new'
  const upstream = useQuery({
    queryKey: ['upstream', id],
    enabled: !isNew && isTeamAdministrator,
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/inference/upstreams/{id}', { params: { path: { id } }, signal })),
  })
  const name = isNew ? 'New upstream' : upstream.data?.name
  useTitle(`${name ?? id} · Gateway`)
  if (!isTeamAdministrator)
    return (
      <div className="page">
        <Empty title="You cannot see the upstreams of this team">It needs the role team_administrator.</Empty>
      </div>
    )
  if (upstream.isError)
    return (
      <div className="page">
        <Failed error={upstream.error} what="The upstream" onRetry={() => void upstream.refetch()} />
      </div>
    )
  if (!isNew && !upstream.isSuccess)
    return (
      <div className="page">
        <Loading what="the upstream" />
      </div>
    )
  return (
    <div className="page">
      <div className="bar">
        <h1>{name}</h1>
        <span className="spacer" />
        {upstream.data !== undefined && !upstream.data.configured && (
          <DeleteUpstream team={team} upstream={upstream.data} />
        )}
      </div>
      {upstream.data?.configured === true && (
        <div className="notice">It comes from the operator&apos;s file and can only be changed there.</div>
      )}
      <UpstreamEditor key={JSON.stringify(upstream.data?.models)} team={team} upstream={upstream.data} />
    </div>
  )
}

const UpstreamEditor = ({
  team,
  upstream,
}: {
  readonly team: string
  /** Undefined for a new one. */
  readonly upstream: Upstream | undefined
}) => {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [initial, setInitial] = useState<UpstreamDraft>(
    upstream === undefined ? EMPTY_UPSTREAM : draftOfUpstream(upstream),
  )
  const [draft, setDraft] = useState(initial)
  const unsaved = useUnsaved(isChangedFrom(initial, draft))
  const saving = useMutation({
    mutationFn: () => {
      const body = bodyOfUpstream(draft)
      return dataOf(
        upstream === undefined
          ? api.POST('/api/inference/upstreams', { body: { team, ...body } })
          : api.PATCH('/api/inference/upstreams/{id}', { params: { path: { id: upstream.id } }, body }),
      )
    },
    onSuccess: (saved) => {
      void queries.invalidateQueries({ queryKey: keysOfTeam.upstreams(team) })
      queries.setQueryData(['upstream', saved.id], saved)
      setInitial(draft)
      if (upstream !== undefined) return
      unsaved.allow()
      void navigate({ to: '/$team/-/gateway/upstreams/$id', params: { team, id: saved.id } })
    },
  })
  return (
    <EditorForm
      name="Upstream"
      action={upstream === undefined ? 'Create the upstream' : 'Save the upstream'}
      saving={saving}
      isDisabled={upstream?.configured === true}
      dialog={unsaved.dialog}
      aside={<UpstreamTester team={team} draft={draft} saved={upstream} />}
    >
      <UpstreamFields team={team} draft={draft} error={saving.error} onChange={setDraft} />
    </EditorForm>
  )
}

const DeleteUpstream = ({
  team,
  upstream: { id, name },
}: {
  readonly team: string
  readonly upstream: Upstream
}) => {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const remove = useMutation({
    mutationFn: () => api.DELETE('/api/inference/upstreams/{id}', { params: { path: { id } } }),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: keysOfTeam.upstreams(team) })
      void navigate({ to: '/$team/-/gateway/{-$tab}', params: { team, tab: 'upstreams' } })
    },
  })
  return (
    <>
      <ConfirmButton label="Delete" title={`Delete the upstream ${name}?`} onConfirm={() => remove.mutate()}>
        <p>Requests for models that no other upstream serves are refused.</p>
      </ConfirmButton>
      <ActionFailed error={remove.error} what="The deletion" />
    </>
  )
}
