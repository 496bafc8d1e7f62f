// Wires engine, store and views; the flow is link or form -> store -> request -> worker -> report -> views.
/** @import {Inputs, Parts} from './types.js' */
import { h, painted, seen } from './dom.js';
import { Advice } from './engine/advice.js';
import { Answering } from './engine/answering.js';
import { SiteData } from './engine/site_data.js';
import { Form } from './form/form.js';
import { readJson } from './host.js';
import { fetchAll, FETCHED, Modules } from './modules.js';
import { showAnswers } from './report/answers.js';
import { Before } from './report/before.js';
import { Dependence } from './report/dependence.js';
import { Dialogs } from './report/dialogs.js';
import { ExerciseView } from './report/exercise_view.js';
import { header } from './report/header.js';
import { InputsBar } from './report/inputs_bar.js';
import { showIssues } from './report/issues.js';
import { showMeasured } from './report/measured.js';
import { faultsText, tell } from './report/notice.js';
import { showRemarks } from './report/remarks.js';
import { showSentence } from './report/sentence.js';
import { meaning } from './report/shortcuts.js';
import { drawLinks, drawTabs } from './report/tabs.js';
import { contextOf } from './scenes/context.js';
import { SCENES, sceneOf } from './scenes/index.js';
import { Stage } from './scenes/stage.js';
import { linkOf } from './state/address.js';
import { read } from './state/link.js';
import { LinkWriter } from './state/link_writer.js';
import { release } from './state/release.js';
import { choicesOf, useNewest, withoutIdle } from './state/scenario.js';
import { Store } from './state/store.js';
import { setInputs } from './text/inputs.js';
import { setOutputs } from './text/outputs.js';
import { t, usePseudoLocale } from './text/strings.js';

const byId = (id) => document.getElementById(id);
const scenes = SCENES.map(({ id }) => id);
const tabs = SCENES.filter(({ tabOf }) => !tabOf).map(({ id }) => id);
const notice = (...all) => tell(byId('notice'), ...all);

// What the address asks for, without a place that its scene lacks ("#/train/none").
async function asked() {
  const state = await read(location.hash, scenes);
  const { scene, sub, faults } = state;
  if (sub && !sceneOf(scene).hasPlaces) {
    if (!faults.some(({ kind }) => kind === 'scene')) faults.push({ path: `${scene}/${sub}`, kind: 'scene' });
    state.sub = '';
  }
  return state;
}

class Page {
  core = new Answering(() => this.stage.draw());
  dependence = new Dependence(this.core.aside);
  #shownParts = {}; // of the scenario, as they last stood without a fault
  /** @type {Inputs} */
  #choices = {};
  #rentals = [];
  #isWhole = false; // whether all of the page has been drawn once
  #rest = null; // what is drawn once the head is seen

  async start() {
    const { engine } = this.core;
    if (location.hash.includes('?')) engine.open();
    const { described, catalogue, report } = await readJson('data/first_view.json');
    useNewest(described.defaults);
    const state = await asked();
    setOutputs(described.outputs);
    setInputs(described.inputs);
    sceneOf(state.scene).load?.();
    this.#rentals = catalogue.filter(({ kind }) => kind === 'rental');
    this.makeParts(described, catalogue, state);
    this.core.know(described, this.form.presetPaths, report);
    const engines = [engine, this.core.aside];
    for (const one of engines)
      one.onbusy = () => byId('content').setAttribute('aria-busy', String(engines.some(({ isBusy }) => isBusy)));
    this.moreScenes = header(byId('actions'), this.parts);
    this.exercise.take();
    if (this.exercise.shown.embedded)
      import('./report/embed.js').then(({ embed }) =>
        embed(document.querySelector('.foot'), () => this.parts.linkWith({})),
      );
    this.drawTabs();
    this.listen();
    this.tellFaults(state.faults);
    this.form.openFor(this.store.scene);
    this.drawForm();
    await this.evaluate();
    // Whoever follows a link to a lesson sees the lesson: on a phone it is below the answers.
    if (this.store.scene === 'lessons' && !this.exercise.shown.embedded) this.stage.open();
    this.tellRelease(state);
    painted()
      .then(() => this.describe())
      .catch((error) => notice(t('app.stopped', { message: error.message })));
    setTimeout(() => this.prefetch().catch(() => {}), 300);
  }

  makeParts(described, catalogue, state) {
    const { core } = this;
    this.store = new Store(state, () => this.#choicesNow());
    const { store } = this;
    this.form = new Form(byId('form'), {
      store,
      described,
      catalogue,
      onconfig: () => this.dialogs.importModel(),
      ondevice: () => this.dialogs.ownDevice(),
      onpick: (path, id) => this.dialogs.pick(path, id),
      onopen: (noun) => this.dialogs.picker(noun),
      onfocus: () => this.inputsBar.open(),
    });
    this.inputsBar = new InputsBar(byId('inputs-bar'), { answers: byId('answers'), form: byId('form') });
    this.stage = new Stage(byId('content'), {
      store,
      context: () => this.context(),
      ondrawn: () => this.dependence.lightFigures(),
    });
    const { stage } = this;
    const onreveal = () => {
      this.drawAll();
      stage.focus();
    };
    this.exercise = new ExerciseView(byId('exercise'), { core, store, form: this.form, onreveal });
    const { defaults, follows } = described;
    // The core may choose inputs that the link no longer writes.
    const tidy = () => {
      const tidied = withoutIdle(defaults, store.inputs, this.form.presetPaths, follows);
      if (tidied === store.inputs) return;
      store.tidy(tidied);
      this.evaluate();
    };
    this.link = new LinkWriter(store, tidy);
    const modules = new Modules(() => stage.draw());
    /** @type {Parts} */
    this.parts = {
      core,
      store,
      stage,
      modules,
      files: new SiteData((path) => {
        if (['lessons', 'method'].includes(store.scene) || path.startsWith('data/')) stage.drawSoon();
      }),
      advice: new Advice(modules, () => stage.draw()),
      before: new Before(() => this.draw()),
      dialogs: null,
      notice,
      linkWith: (view) => linkOf({ ...store.state, view }),
    };
    this.dialogs = this.parts.dialogs = new Dialogs(this.parts, this.form);
  }

  // The core's choices for the scenario, by path. If a measurement changes the scenario, the choices stay those of the
  // measured run.
  #choicesNow() {
    const { report } = this.core;
    const now = report ? { ...choicesOf('training', report), ...choicesOf('serving', report) } : {};
    if (Object.keys(now).length > 0) this.#choices = now;
    return this.#choices;
  }

  listen() {
    const { core, dependence, stage, store } = this;
    store.addEventListener('change', (/** @type {CustomEvent} */ { detail }) => this.changed(detail));
    store.addEventListener('solve', (/** @type {CustomEvent} */ { detail }) => this.dialogs.solve(detail));
    window.addEventListener('popstate', () => this.follow());
    window.addEventListener('beforeprint', () => stage.draw());
    byId('answers').addEventListener('click', (event) => this.openScene(event) && stage.reveal());
    const light = ({ target }) => dependence.lightReached(core.request, target.closest?.('[data-path]')?.dataset.path);
    byId('form').addEventListener('pointerover', light);
    byId('form').addEventListener('pointerleave', () => dependence.lightReached(core.request, undefined));
    byId('form').addEventListener('focusin', light);
    document.addEventListener('keydown', (event) => this.key(event));
    new ResizeObserver(() => stage.draw()).observe(byId('content'));
  }

  // The context of scenes, null until there is a report.
  context() {
    const { core, dependence, exercise, form } = this;
    return contextOf(this.parts, {
      hidden: exercise.hidesAnswers,
      width: Math.max(260, byId('content').clientWidth),
      hover: (path) => dependence.inputsOf(core.request, path, (inputs) => form.highlight(inputs)),
      toInput: (path) => form.focus(path),
    });
  }

  // Back, Forward, or a hash typed by hand.
  async follow() {
    const state = await asked();
    this.tellFaults(state.faults);
    this.store.load(state);
    this.tellRelease(state);
  }

  changed({ push, source }) {
    if (source !== 'link') this.link.write(push);
    if (source === 'link' || source === 'view') this.exercise.take();
    if (source !== 'edit') this.form.openFor(this.store.scene);
    this.drawTabs();
    if (source === 'scene') this.stage.open();
    else if (this.core.isOf(this.store.inputs)) this.stage.draw();
    else this.evaluate();
  }

  async evaluate() {
    try {
      const isLatest = await this.core.evaluate(this.store.inputs, {
        onreport: () => this.draw(),
        onbase: () => this.drawForm(),
      });
      if (isLatest) this.dialogs.refresh();
    } catch (error) {
      notice(t('app.stopped', { message: error.message }));
    }
  }

  // Draws the answers first, then scene and form; at the start everything at once, so that nothing moves.
  draw() {
    if (!this.#isWhole) return this.drawAll();
    if (this.core.report) this.drawHead();
    if (!this.#rest) this.#rest = seen().then(() => this.drawRest());
  }

  drawAll() {
    const { report } = this.core;
    this.drawRest(); // first: it asks for its width while the page is still laid out
    if (report) this.drawHead();
    this.#isWhole = Boolean(report);
  }

  drawHead() {
    const { report, faulty } = this.core;
    const { dialogs, store } = this;
    showAnswers(byId('answers'), {
      ...report,
      faulty,
      store,
      rentals: this.#rentals,
      before: this.parts.before.drawn(),
    });
    showMeasured(byId('answers').querySelector('.mine'), { scenario: report.scenario, store });
    showSentence(byId('answers').querySelector('.say'), this.scenarioShown(), {
      inputs: store.inputs,
      onopen: (noun) => dialogs.picker(noun),
      isLocked: store.isLocked,
    });
  }

  drawRest() {
    const { report, issues, faulty } = this.core;
    const { form, store } = this;
    this.#rest = null;
    if (report) {
      this.stage.draw();
      this.inputsBar.show(report.scenario);
      this.exercise.draw();
      showRemarks(byId('remarks'), report, form);
    }
    this.drawForm();
    const stale = issues.length > 0 && faulty.size === 0;
    showIssues(byId('issues'), { issues, form, store, stale });
  }

  // Parts left out because of issues keep their last values, so that they can be corrected.
  scenarioShown() {
    const { report, faulty, base } = this.core;
    const asked = () => this.core.requestFor(this.store.inputs);
    const scenario = { ...(report?.scenario ?? base ?? asked()) };
    for (const part of faulty) scenario[part] = this.#shownParts[part] ?? base?.[part] ?? asked()[part] ?? {};
    if (report)
      for (const part of Object.keys(scenario)) if (!faulty.has(part)) this.#shownParts[part] = scenario[part];
    return scenario;
  }

  drawForm() {
    const { report, issues, base } = this.core;
    this.form.show({ inputs: this.store.inputs, scenario: this.scenarioShown(), report, standard: base, issues });
  }

  // The parts of inputs and outputs that the first view lacks.
  async describe() {
    // The names of choices come with the whole description, for the fields made next.
    const [whole] = await Promise.all([this.core.engine.ask('describe'), import('./form/texts.js')]);
    // First the names of inputs, for the fields made next.
    setInputs(whole.inputs);
    setOutputs(whole.outputs);
    this.form.describe(whole.inputs);
    this.core.isDescribed = true;
    this.draw();
  }

  drawTabs() {
    document.body.className = document.body.className.replace(/\bat-\w+|$/, ` at-${this.store.scene}`).trim();
    const chosen = sceneOf(this.store.scene).tabOf?.(this.store.sub) ?? this.store.scene;
    const onopen = (event) => this.openScene(event);
    const isTab = (id) => id === chosen || !sceneOf(id).isFolded;
    drawTabs(byId('tabs'), { scenes: tabs.filter(isTab), chosen, onopen });
    drawLinks(this.moreScenes, { scenes: tabs.filter((id) => !isTab(id)), chosen, onopen });
  }

  openScene(event) {
    const link = event.target.closest('[data-scene]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button > 0) return false;
    event.preventDefault();
    this.store.open(link.dataset.scene, link.dataset.sub);
    return true;
  }

  key(event) {
    const what = !this.dialogs.isOpening && meaning(event);
    if (!what) return;
    event.preventDefault();
    if (what === 'undo') this.store.undo() && notice(t('undo.done'), 2000);
    else if (what === 'help') this.dialogs.help();
    else if (what === 'inputs') {
      this.inputsBar.open();
      /** @type {HTMLElement | null} */
      const first = byId('form').querySelector('select, input');
      first?.focus();
    } else if (['copy', 'keep', 'export'].includes(what)) byId(what === 'copy' ? 'copy-link' : what).click();
    else this.store.open(what);
  }

  tellFaults(faults) {
    if (faults.length) notice(faultsText(faults));
  }

  // Another release may have given other answers for a link.
  async tellRelease(state) {
    if (state.faults.length || !state.release || state.release === release()) return;
    const { tellMoved } = await FETCHED.releases();
    await tellMoved(this.parts, state);
  }

  async keepOffline() {
    const { keepOffline } = await import('./state/offline.js');
    keepOffline((reload) =>
      notice(
        t('offline.update'),
        0,
        h('button', { type: 'button', class: 'link', onclick: reload }, t('offline.reload')),
      ),
    );
  }

  // Everything that scenes may fetch later, so that the page works offline.
  async prefetch() {
    await this.keepOffline();
    for (const scene of SCENES) await scene.load?.();
    await fetchAll();
    this.form.addSources(await this.core.catalogue());
    this.drawForm();
    const lessons = await readJson('lessons/index.json');
    for (const path of [
      'lessons/index.json',
      'lessons/course.json',
      ...lessons.map((id) => `lessons/${id}.json`),
      'data/published.json',
      'data/releases.json',
    ])
      this.parts.files.at(path);
  }
}

if (new URLSearchParams(location.search).get('lang') === 'pseudo') usePseudoLocale();
const page = new Page();
page.start().catch((error) => {
  const read = h('a', { href: 'lessons.html' }, t('app.read'));
  byId('answers')
    .querySelector('.say')
    .replaceChildren(t('app.broken', { message: error.message }), ' ', read);
});
