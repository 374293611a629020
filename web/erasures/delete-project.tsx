import { Button, Modal, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { NotSaved } from '../kit/form-errors.js'
import { plural, shortNumber } from '../kit/format.js'
import { onSubmit } from '../kit/on-submit.js'
import { Failed, Loading } from '../kit/states.js'
import { Receipt } from './receipt.js'

interface DeleteProps {
  readonly path: { readonly entity: string; readonly project: string }
  /** Closes what shows the deleted project. */
  readonly onDeleted: () => void
}

/** Deletes a project with its content, after a preview and once its name is typed. */
export const DeleteProject = ({ path, onDeleted }: DeleteProps) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <section aria-label="Deletion">
      <h3>Delete the project</h3>
      <Button variant="default" color="red" onClick={() => setOpen(true)}>
        Delete {path.project}
      </Button>
      {isOpen && <DeleteDialog path={path} onDeleted={onDeleted} onClose={() => setOpen(false)} />}
    </section>
  )
}

const CONTENTS: readonly (readonly [name: keyof Schemas['ProjectContents'], one: string])[] = [
  ['calls', 'call'],
  ['feedback', 'piece of feedback'],
  ['object_versions', 'version of objects'],
  ['tables', 'table'],
  ['files', 'file'],
  ['artifact_versions', 'artifact version'],
  ['runs', 'run'],
  ['annotation_queues', 'annotation queue'],
]

const DeleteDialog = ({ path, onDeleted, onClose }: DeleteProps & { readonly onClose: () => void }) => {
  const queries = useQueryClient()
  const [typed, setTyped] = useState('')
  const [isDeleted, setDeleted] = useState(false)
  const send = (query: { readonly dry_run?: 'true'; readonly reason?: string }) =>
    dataOf(api.DELETE('/api/projects/{entity}/{project}', { params: { path, query } }))
  const preview = useQuery({
    queryKey: ['deletion preview', path],
    queryFn: () => send({ dry_run: 'true' }),
    enabled: !isDeleted,
  })
  const remove = useMutation({
    mutationFn: () => send({}),
    onSuccess: () => {
      setDeleted(true)
      return queries.invalidateQueries({ queryKey: ['projects', path.entity] })
    },
  })
  const found = preview.data?.preview
  const requested = remove.data?.erasure
  return (
    <Modal opened onClose={requested ? onDeleted : onClose} title={`Delete ${path.project}?`}>
      {!requested && preview.isError && <Failed error={preview.error} what="The preview" />}
      {preview.isPending && <Loading what="preview" />}
      {requested && (
        <>
          <p>The project was deleted.</p>
          <Receipt path={path} id={requested.id} ofDeleted />
          <Button variant="default" onClick={onDeleted}>
            Close
          </Button>
        </>
      )}
      {found && !requested && (
        <form className="form" onSubmit={onSubmit(() => remove.mutate())}>
          <p style={{ margin: 0 }}>
            The project is deleted for ever, with its automations, and its content is erased:{' '}
            {CONTENTS.filter(([name]) => found[name] > 0)
              .map(([name, one]) => plural(found[name], one))
              .join(', ') || 'nothing'}
            , {shortNumber(found.bytes)} bytes. Its name cannot be used again. Usage and costs stay in the
            totals of the team.
          </p>
          <TextInput
            label={`Type ${path.project} to confirm`}
            autoComplete="off"
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
          <NotSaved error={remove.error} what="The deletion" />
          <Button type="submit" color="red" disabled={typed !== path.project} loading={remove.isPending}>
            Delete for ever
          </Button>
        </form>
      )}
    </Modal>
  )
}
