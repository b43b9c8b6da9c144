//! Which threads did the work of a case.

use hopcost_model::results::CaseResult;

use super::parts;
use crate::markup::{Esc, put};
use crate::number;
use crate::section::runtimes::{Plays, thread_name};

pub(super) fn write(out: &mut String, case: &CaseResult) {
    if case.threads.is_empty() {
        return;
    }
    put!(
        out,
        "<h4>Threads</h4>\n<div class=\"scroll\"><table><thead><tr>\
         <th scope=\"col\">Thread</th><th scope=\"col\">Process of the</th>\
         <th scope=\"col\">Plays</th><th scope=\"col\" class=\"n\">Share of CPU time</th>\
         <th scope=\"col\" class=\"n\">CPU time per operation</th>\
         <th scope=\"col\" class=\"n\">Switches per operation</th></tr></thead><tbody>\n"
    );
    for thread in &case.threads {
        let plays = match Plays::of(thread, case) {
            Plays::End(end) => format!("the {end}"),
            Plays::Any => "any end: the runtime moves them".to_owned(),
            Plays::Nothing => "<span class=\"v-suspect\">hidden</span>".to_owned(),
        };
        put!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{plays}</td>\
             <td class=\"n\">{}</td>{}<td class=\"n\">{:.2}</td></tr>\n",
            Esc(&thread_name(thread)),
            thread.process,
            number::share(thread.cpu_share),
            parts::time_cell(thread.cpu_ns_per_operation, 2),
            thread.switches_per_operation
        );
    }
    put!(out, "</tbody></table></div>\n");
}
